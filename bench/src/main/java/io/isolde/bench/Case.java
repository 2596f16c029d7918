// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.util.Optional;

/**
 * What is measured: one kind of request, perhaps while others go on.
 *
 * @param before makes the case begin like in every round, not measured
 * @param storm what goes on meanwhile, not measured
 */
record Case(String name, Load load, Runnable before, Optional<Storm.Plan> storm) {

  Case(String name, Workload workload) {
    this(name, workload, () -> {}, Optional.empty());
  }

  /** A case whose clients are elsewhere. */
  static Case elsewhere(String name, Load load) {
    return new Case(name, load, () -> {}, Optional.empty());
  }

  /** Returns the same case with so many requests in flight, whatever the options say. */
  Case at(int inFlight) {
    return new Case(
        name + "_at_" + inFlight, (any, duration) -> load.run(inFlight, duration), before, storm);
  }

  Case after(Runnable step) {
    return new Case(name, load, step, storm);
  }

  Case during(Storm.Plan plan) {
    return new Case(name, load, before, Optional.of(plan));
  }
}
