// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.time.Duration;
import java.util.Optional;

/**
 * What is measured: one kind of request, perhaps while others go on.
 *
 * @param before makes the case start alike in every round, not measured
 * @param storm what goes on meanwhile, not measured
 * @param processes whose processor time counts; empty for those of all cases
 */
public record Case(
    String name,
    Load load,
    Runnable before,
    Optional<Storm.Plan> storm,
    Optional<Processes> processes) {

  /** A case that needs nothing besides. */
  public Case(String name, Load load) {
    this(name, load, () -> {}, Optional.empty(), Optional.empty());
  }

  /** Returns the same load with so many requests in flight, whatever the options say. */
  public Case at(int inFlight) {
    return new Case(name + "_at_" + inFlight, load.at(inFlight), before, storm, processes);
  }

  /** Returns the same case after a step that is not measured. */
  public Case after(Runnable step) {
    return new Case(name, load, step, storm, processes);
  }

  /**
   * Returns the same case during a storm of other requests.
   *
   * @param leadIn how long the storm blows before anything is measured
   */
  public Case during(Workload workload, double perSecond, Duration leadIn) {
    Storm.Plan plan = new Storm.Plan(workload, perSecond, leadIn);
    return new Case(name, load, before, Optional.of(plan), processes);
  }

  /** Returns the same case, which costs the processor time of these processes alone. */
  public Case on(Processes some) {
    return new Case(name, load, before, storm, Optional.of(some));
  }
}
