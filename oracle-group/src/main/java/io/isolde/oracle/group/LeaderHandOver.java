// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import io.isolde.raft.RaftReplica;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lets another member lead before this one stops. */
final class LeaderHandOver {
  private static final Logger log = LoggerFactory.getLogger(LeaderHandOver.class);
  private static final long HAND_OVER_MILLIS = 3_000;

  private LeaderHandOver() {}

  /** Asks one member after the other, until one leads. */
  static void toAnother(RaftReplica replica, Peer self) {
    for (Peer peer : replica.members()) {
      if (!peer.id().equals(self.id())) {
        try {
          replica
              .transferLeadership(peer.id(), HAND_OVER_MILLIS)
              .get(2 * HAND_OVER_MILLIS, TimeUnit.MILLISECONDS);
          return;
        } catch (ExecutionException | TimeoutException | GroupFailure e) {
          log.info("{} could not take over the oracle: {}", peer.id(), e.toString());
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }
}
