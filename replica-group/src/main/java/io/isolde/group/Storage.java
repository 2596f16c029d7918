// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The database that the log of one group is written ahead of. */
public interface Storage {
  /**
   * Applies a write, in the order of the log, not durably. Applying it again, also after later
   * ones, must do no harm. Returns when reads find it; does not give up.
   *
   * @param decoded what {@link Write#decoded} was; null if it must be made of the payload
   * @param timestampMicros the log's for the write
   * @return the newest timestamp that the write has: the log's, or a newer one that it came with.
   *     Whatever comes after it in the log gets a newer one. The payload alone must decide, since
   *     all replicas must come to the same
   */
  long apply(byte[] payload, Object decoded, long timestampMicros);

  /**
   * Whether a write must not be applied now that was decided on by what was stored: the log has
   * said that the data which it may have seen is about to go. Then it is decided on again. The log
   * alone must say so, since all replicas must come to the same.
   *
   * @param decoded as for {@link #apply}
   * @param proposedMicros the clock of the leader that made the entry
   */
  default boolean isRefused(byte[] payload, Object decoded, long proposedMicros) {
    return false;
  }

  /**
   * What the log has said that a copy of the storage does not show, for instance what is to be gone
   * from it. The log alone decides about it. It is a part of each checkpoint, so of each copy, and
   * bounded. Not called while {@link #apply} is.
   */
  default byte[] state() {
    return new byte[0];
  }

  /**
   * Goes on from a {@link #state}, at the start and after a copy: a copy has only what the other
   * member stores, and here may be what it has no more. Returns when reads find none of that. May
   * block; {@link #apply} is not called meanwhile.
   *
   * @param state of this member or of the one that was copied; empty if all of the log comes again
   * @throws IOException if that can't be done now; then the replica does not start
   */
  default void restore(byte[] state) throws IOException {}

  /**
   * What is applied next has a timestamp above this one. Called after {@link #restore}, before the
   * next {@link #apply}.
   */
  default void begin(long lastMicros) {}

  /**
   * The replica stops: an {@link #apply} that waits is to end now, with an exception. So is each
   * one until the next {@link #restore}.
   */
  default void stop() {}

  /** Why {@link #apply} does not return, or can't do what it has to; empty if all is well. */
  default Optional<String> problem() {
    return Optional.empty();
  }

  /**
   * Completes when everything that was applied before the call is durable. Fails if it is not, also
   * because of an earlier failure.
   */
  CompletableFuture<Void> flush();

  /**
   * Deletes what is stored of the group's ranges, before this node joins the group. Blocks.
   *
   * @throws IOException if that can't be done now
   */
  void empty() throws IOException;

  /**
   * Copies all that another member has stored durably of the group's ranges; returns when it is
   * here and durable.
   *
   * @param address of the member
   */
  CompletableFuture<Void> copyFrom(String address);
}
