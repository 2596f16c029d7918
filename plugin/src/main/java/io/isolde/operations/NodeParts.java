// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.push.PushNode;
import io.isolde.replicated.OracleHost;
import io.isolde.replication.StrongKeyspaces;
import io.isolde.restart.Restart;
import io.isolde.rowlock.RowLocks;
import io.isolde.snapshot.node.SnapshotNode;
import io.isolde.transaction.Coordinator;
import java.util.Optional;

/** The parts of this node, as far as they have started. */
public interface NodeParts {
  Optional<Coordinator> startedCoordinator();

  /** The strong keyspaces; none until they are started. */
  StrongKeyspaces strongKeyspaces();

  /** This node's part of the oracle's group; empty until it is started. */
  Optional<OracleHost> oracleHost();

  /** What this node does about commits that it lost when it died. */
  Restart restart();

  /** The locks of this node's transactions, and of all if it leads the oracle. */
  RowLocks rowLocks();

  /** What this node pushes to clients, and to how many. */
  PushNode push();

  /** How many requests of clients are not answered yet, of those that hold no thread meanwhile. */
  long unanswered();

  /** What this node does about snapshots. */
  SnapshotNode snapshots();
}
