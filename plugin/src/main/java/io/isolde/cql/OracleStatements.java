// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.replicated.OracleHost;
import java.util.concurrent.ExecutionException;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** Executes the statements that change the oracle's group. */
final class OracleStatements {
  private final NodeStart node;

  OracleStatements(NodeStart node) {
    this.node = node;
  }

  void execute(ControlStatement.AlterOracle alter, ClientState client) {
    client.ensureIsSuperuser("Only superusers may change the oracle's group.");
    OracleHost host =
        node.oracleHost()
            .orElseThrow(
                () ->
                    new InvalidRequestException(
                        "ALTER ORACLE: the oracle is not replicated (oracle: embedded), or this"
                            + " node has not started its part of it."));
    try {
      var unused = host.change(alter.change(), alter.address()).get();
    } catch (ExecutionException e) {
      throw new InvalidRequestException("ALTER ORACLE: " + e.getCause().getMessage(), e);
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }
}
