// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.config.IsoldeConfig;
import io.isolde.embedded.EmbeddedOracle;
import io.isolde.embedded.TimestampReservation;
import io.isolde.oracle.OracleConfig;
import io.isolde.transaction.Coordinator;
import io.isolde.transaction.TableGate;
import java.nio.file.Path;
import java.time.Clock;
import org.apache.cassandra.config.DatabaseDescriptor;

/** Puts the parts of Isolde in this process together. */
final class NodeStart {
  /** Beside the commit log: on a durable disk that is this node's own. */
  private static final String RESERVATION_FILE = "isolde-timestamp-reservation";

  private NodeStart() {}

  static Coordinator coordinator(TableGate gate) {
    IsoldeConfig config = IsoldeConfig.ofThisNode();
    EmbeddedOracle oracle =
        new EmbeddedOracle(
            new OracleConfig(
                config.oracleMaxRows(),
                config.oracleMaxPending(),
                config.oracleMaxOutcomes(),
                config.oracleOutcomeRetentionMicros(),
                config.versionRetentionMicros()),
            new TimestampReservation(
                Path.of(DatabaseDescriptor.getCommitLogLocation(), RESERVATION_FILE)),
            config.timestampReservationMicros(),
            Clock.systemUTC());
    return Coordinator.start(config, gate, oracle, oracle);
  }
}
