// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.configuration.Configuration;
import io.isolde.oracle.group.ConfigurationChanges;
import io.isolde.oracle.group.OracleClient;
import io.isolde.raft.GroupFailure;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/**
 * Reads the configuration from whoever leads the oracle, as of a moment after the question. Every
 * wait ends with the time-out of the oracle's client.
 */
final class ConfigurationLook {
  private final NodeParts parts;

  ConfigurationLook(NodeParts parts) {
    this.parts = parts;
  }

  /**
   * The newest one.
   *
   * @throws IsoldeException ORACLE_UNAVAILABLE, ORACLE_OVERLOADED
   */
  Configuration now() {
    return ask(OracleClient::configuration);
  }

  /**
   * All changes that are known.
   *
   * @throws IsoldeException as {@link #now}
   */
  ConfigurationChanges history() {
    return ask(client -> client.configurationChanges(0));
  }

  private <T> T ask(Function<OracleClient, CompletableFuture<T>> question) {
    OracleClient client =
        parts
            .oracleHost()
            .orElseThrow(
                () ->
                    IsoldeException.of(
                        ErrorCode.ORACLE_UNAVAILABLE,
                        "The oracle has not started on this node yet, so the configuration can't be"
                            + " read here. Ask another node, or again in a moment."))
            .client();
    try {
      return question.apply(client).get();
    } catch (ExecutionException e) {
      throw failed(e.getCause());
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private static IsoldeException failed(Throwable cause) {
    boolean isOverloaded =
        cause instanceof GroupFailure failure && failure.reason() == GroupFailure.Reason.OVERLOADED;
    return IsoldeException.of(
        isOverloaded ? ErrorCode.ORACLE_OVERLOADED : ErrorCode.ORACLE_UNAVAILABLE,
        "The oracle did not answer what the configuration is: " + cause.getMessage());
  }
}
