// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.session.Request;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Ties statements to a transaction: the custom payload names it, the node is the one that holds it,
 * and the driver must not send it twice on its own account.
 *
 * <p>Why idempotent is set to false, whatever the statement says: the driver retries after a lost
 * connection, and speculates, only with idempotent statements. A write that arrived twice would be
 * harmless, but a late copy could arrive after the application went on.
 *
 * <p>Why later pages work: the driver asks for them with a copy of the executed statement, which
 * keeps payload and node.
 *
 * @param node null until START TRANSACTION was answered; then the node that did
 */
record Binding(UUID transaction, Node node) {
  /** The name of the payload entry. */
  static final String PAYLOAD_KEY = "isolde-transaction";

  /** The entry that, with COMMIT, has a transaction aborted that is not decided. */
  static final String START_KEY = "isolde-start-timestamp";

  /**
   * A copy of the statement that runs in the transaction.
   *
   * @throws IllegalArgumentException if the statement is pinned to another node
   */
  Statement<?> bind(Statement<?> statement) {
    if (statement.getNode() != null && !statement.getNode().equals(node)) {
      throw new IllegalArgumentException(
          "The statement is pinned to node %s, but transaction %s is held by node %s."
              .formatted(statement.getNode(), transaction, node));
    }
    Map<String, ByteBuffer> payload = new HashMap<>(statement.getCustomPayload());
    payload.put(PAYLOAD_KEY, ascii(transaction.toString()));
    Statement<?> tied = statement.setCustomPayload(payload);
    tied = tied.setNode(node);
    return tied.setIdempotent(false);
  }

  /** {@link #bind}, for a COMMIT that is to have the transaction decided. */
  Statement<?> bindSettling(Statement<?> commit, long startTimestamp) {
    return bind(commit.setCustomPayload(Map.of(START_KEY, ascii(Long.toString(startTimestamp)))));
  }

  private static ByteBuffer ascii(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
  }

  /** True if the request was made by {@link #bind} for this transaction. */
  static boolean isBound(Request request, UUID transaction) {
    ByteBuffer entry = request.getCustomPayload().get(PAYLOAD_KEY);
    return entry != null
        && transaction
            .toString()
            .equals(StandardCharsets.US_ASCII.decode(entry.duplicate()).toString());
  }
}
