// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.config.IsoldeConfig;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.replicated.OracleHost;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** Executes the statements that change the oracle's group. */
final class OracleStatements {
  private final NodeStart node;

  OracleStatements(NodeStart node) {
    this.node = node;
  }

  void execute(ControlStatement.AlterOracle alter, ClientState client) {
    OracleHost host = host(client);
    try {
      var unused = host.change(alter.change(), alter.address()).get();
    } catch (IsoldeConfig.ConfigurationException e) {
      throw IsoldeException.invalid(
          "ALTER ORACLE: '" + alter.address() + "' is not the address of a node.");
    } catch (ExecutionException e) {
      IsoldeException failed =
          IsoldeException.of(
              ErrorCode.CHANGE_FAILED,
              "ALTER ORACLE: "
                  + e.getCause().getMessage()
                  + " isolde.oracle shows the members and who leads.",
              "address",
              alter.address());
      failed.addSuppressed(e.getCause());
      throw failed;
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /** Of this node: each member is asked for itself. */
  void acceptLoss(ClientState client) {
    try {
      host(client).node().acceptLoss();
    } catch (IllegalStateException | IOException e) {
      throw IsoldeException.invalid("ALTER ORACLE ACCEPT LOSS: " + e.getMessage());
    }
  }

  private OracleHost host(ClientState client) {
    client.ensureIsSuperuser("Only superusers may change the oracle's group.");
    return node.oracleHost()
        .orElseThrow(
            () ->
                IsoldeException.invalid(
                    "ALTER ORACLE: this node has not started its part of the oracle yet."));
  }
}
