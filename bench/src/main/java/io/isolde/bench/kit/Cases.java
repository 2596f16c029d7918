// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.util.ArrayList;
import java.util.List;

/** Cases that are measured together, and which of them are compared. */
public final class Cases {
  private final List<Case> all = new ArrayList<>();
  private final List<Ratio> ratios = new ArrayList<>();

  /** Adds one kind of request. */
  public Cases add(String name, Load load) {
    return add(new Case(name, load));
  }

  /** Adds a case. */
  public Cases add(Case each) {
    all.add(each);
    return this;
  }

  /**
   * Compares the throughput of a case with that of another.
   *
   * @param key the ratio's name in the report
   */
  public Cases ratio(String key, String of, String to) {
    ratios.add(new Ratio(key, of, to));
    return this;
  }

  /**
   * Adds a case and that of its peer, and compares their throughput.
   *
   * @param peerName what the peer is called in the ratio's name
   */
  public Cases pair(Case peer, Case ours, String peerName) {
    add(peer).add(ours);
    return ratio(ours.name() + "_vs_" + peerName, ours.name(), peer.name());
  }

  /** Returns all cases, in the order in which they were added. */
  public List<Case> all() {
    return List.copyOf(all);
  }

  /** Returns what is compared. */
  public List<Ratio> ratios() {
    return List.copyOf(ratios);
  }
}
