// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.ExecutionInfo;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.session.Request;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
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
  static final String START_TIMESTAMP_KEY = "isolde-start-timestamp";

  /** The entry that has the transaction begun before the statement: START TRANSACTION. */
  static final String START_KEY = "isolde-start";

  /** The entry that has the transaction committed after the statement. */
  static final String COMMIT_KEY = "isolde-commit";

  /**
   * A copy of the statement that runs in the transaction.
   *
   * @throws IllegalArgumentException if the statement is pinned to another node
   */
  Statement<?> bind(Statement<?> statement) {
    if (node != null && statement.getNode() != null && !statement.getNode().equals(node)) {
      throw new IllegalArgumentException(
          "The statement is pinned to node %s, but transaction %s is held by node %s."
              .formatted(statement.getNode(), transaction, node));
    }
    Statement<?> tied = with(statement, PAYLOAD_KEY, transaction.toString());
    if (node != null) {
      tied = tied.setNode(node);
    }
    return tied.setIdempotent(false);
  }

  private static Statement<?> with(Statement<?> statement, String key, String value) {
    Map<String, ByteBuffer> payload = new HashMap<>(statement.getCustomPayload());
    payload.put(key, ByteBuffer.wrap(value.getBytes(StandardCharsets.US_ASCII)));
    return statement.setCustomPayload(payload);
  }

  /** {@link #bind}, for the first statement of a transaction that is not begun yet. */
  Statement<?> bindStarting(Statement<?> statement, String startCql) {
    return bind(with(statement, START_KEY, startCql));
  }

  /** {@link #bind}, for writes after which the transaction is committed. */
  Statement<?> bindCommitting(Statement<?> writes) {
    return bind(with(writes, COMMIT_KEY, "true"));
  }

  /** {@link #bind}, for a COMMIT that is to have the transaction decided. */
  Statement<?> bindResolving(Statement<?> commit, long startTimestamp) {
    return bind(with(commit, START_TIMESTAMP_KEY, Long.toString(startTimestamp)));
  }

  /** What the answer to {@link #bindStarting} tells; empty if it has warnings instead. */
  static OptionalLong startTimestamp(ExecutionInfo answer) {
    ByteBuffer answered = answer.getIncomingPayload().get(START_TIMESTAMP_KEY);
    return answered == null
        ? OptionalLong.empty()
        : OptionalLong.of(Long.parseLong(text(answered)));
  }

  private static String text(ByteBuffer ascii) {
    return StandardCharsets.US_ASCII.decode(ascii.duplicate()).toString();
  }

  /** True if the request was made by {@link #bind} for this transaction. */
  static boolean isBound(Request request, UUID transaction) {
    ByteBuffer entry = request.getCustomPayload().get(PAYLOAD_KEY);
    return entry != null && transaction.toString().equals(text(entry));
  }
}
