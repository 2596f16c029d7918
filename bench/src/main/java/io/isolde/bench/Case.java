// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.util.Optional;

/**
 * What is measured: one kind of request, perhaps while others go on.
 *
 * @param before makes the case begin like in every round, not measured
 * @param storm what goes on meanwhile, not measured
 */
record Case(String name, Workload workload, Runnable before, Optional<Storm.Plan> storm) {

  Case(String name, Workload workload) {
    this(name, workload, () -> {}, Optional.empty());
  }

  Case after(Runnable step) {
    return new Case(name, workload, step, storm);
  }

  Case during(Storm.Plan plan) {
    return new Case(name, workload, before, Optional.of(plan));
  }
}
