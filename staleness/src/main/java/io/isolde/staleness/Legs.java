// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Optional;

/**
 * The four one-way delays between a coordinator and a replica: WARS (PBS, section 4.1).
 *
 * @param write from the coordinator's sending a write until the replica shows it to reads (W)
 * @param ack from there until the coordinator has the acknowledgement (A)
 * @param request from the coordinator's sending a read until the replica looks at its data (R)
 * @param response from there until the coordinator has the answer (S)
 * @param uncertaintyMicros by how much write and request together may be longer and ack and
 *     response shorter, or the other way round: the two nodes' clocks are not known better
 */
public record Legs(
    Delay write, Delay ack, Delay request, Delay response, double uncertaintyMicros) {

  /** Legs that are known exactly. */
  public static Legs of(Delay write, Delay ack, Delay request, Delay response) {
    return new Legs(write, ack, request, response, 0);
  }

  /**
   * Legs of which some were not seen, since nobody wrote or nobody read from other nodes. Then a
   * read's request is taken for as long as an acknowledgement, and so on: a message each.
   *
   * @return empty if there are neither all of writes nor all of reads
   */
  public static Optional<Legs> assuming(
      Optional<Delay> write,
      Optional<Delay> ack,
      Optional<Delay> request,
      Optional<Delay> response,
      double uncertaintyMicros) {
    if (write.isPresent() && ack.isPresent()) {
      return Optional.of(
          new Legs(
              write.get(),
              ack.get(),
              request.orElse(ack.get()),
              response.orElse(ack.get()),
              uncertaintyMicros));
    }
    if (request.isPresent() && response.isPresent()) {
      return Optional.of(
          new Legs(request.get(), request.get(), request.get(), response.get(), uncertaintyMicros));
    }
    return Optional.empty();
  }

  /** How many observations the least known of them is made from. */
  public long observations() {
    return Math.min(
        Math.min(write.observations(), ack.observations()),
        Math.min(request.observations(), response.observations()));
  }
}
