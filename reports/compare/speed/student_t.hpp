// Student's t distribution: what a t value means for so many degrees of freedom.
#pragma once

namespace tidemark::reports {

/// Probability that |T| is at least |t|; NaN for NaN or for no degrees of freedom.
double student_two_sided(double t, double degrees);

/// The t that T exceeds with probability `tail`, 0 < tail < 0.5.
double student_upper(double tail, double degrees);

}  // namespace tidemark::reports
