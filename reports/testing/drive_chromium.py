#!/usr/bin/env python3
"""Opens a page in headless Chromium and looks at it: drive_chromium.py BROWSER PAGE EXPRESSION...

Prints the JSON of each JavaScript expression on a line of its own, evaluated one after the other, then
{"requests": [...], "messages": [...]}: everything the page asked for and everything the browser said.
An expression light.png or dark.png is a picture instead, written to that path, in that colour scheme.
Talks to the browser by pipe, so it needs nothing but Python."""
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

TIMEOUT_S = 60


class Browser:
    """A headless browser and one page in it."""

    def __init__(self, program, profile):
        to_browser, from_us = os.pipe()
        from_browser, to_us = os.pipe()

        def take_pipes():  # the browser reads commands from 3 and answers on 4
            commands, answers = os.dup(to_browser), os.dup(to_us)  # above 4, where the four ends may be
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--window-size=1400,1000",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            close_fds=False, preexec_fn=take_pipes, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(to_us)
        self.out, self.answers = from_us, os.fdopen(from_browser, "rb", buffering=0)
        self.rest, self.number, self.events, self.session = b"", 0, [], None

    def receive(self):
        while b"\0" not in self.rest:
            more = self.answers.read(1 << 16)
            if not more:
                raise SystemExit("the browser ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.out, json.dumps(command).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise SystemExit(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    def open(self, page):
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.events.clear()
        self.ask("Page.navigate", url=page)
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())

    def evaluate(self, expression):
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            return "exception: " + answer["exceptionDetails"].get("exception", {}).get("description", "unknown")
        return answer["result"].get("value")

    def picture(self, path, scheme):
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12000), "scale": 1}
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
        return path

    def said(self):
        made = {"requests": [], "messages": []}
        for event in self.events:
            parameters = event.get("params", {})
            if event["method"] == "Network.requestWillBeSent":
                made["requests"].append(parameters["request"]["url"][:200])
            elif event["method"] == "Log.entryAdded":
                made["messages"].append(parameters["entry"]["text"])
            elif event["method"] == "Runtime.exceptionThrown":
                made["messages"].append(str(parameters["exceptionDetails"].get("text")))
            elif event["method"] == "Page.javascriptDialogOpening":
                made["messages"].append("a dialog: " + parameters["message"])
        return made


def main(program, page, *expressions):
    with tempfile.TemporaryDirectory(prefix="tidemark-chromium-", ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            browser.open(pathlib.Path(page).resolve().as_uri())
            for expression in expressions:
                if expression.endswith(("light.png", "dark.png")):
                    print(json.dumps(browser.picture(expression, "dark" if expression.endswith("dark.png") else "light")))
                else:
                    print(json.dumps(browser.evaluate(expression)))
            browser.ask("Runtime.evaluate", expression="1")  # what came in by then is in events
            print(json.dumps(browser.said()))
        finally:
            browser.process.kill()
            browser.process.wait()


if __name__ == "__main__":
    import signal
    signal.alarm(TIMEOUT_S)
    main(*sys.argv[1:])
