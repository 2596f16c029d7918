// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.DriverException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * A transaction, or a statement of one, failed.
 *
 * <p>Read it in this order:
 *
 * <ol>
 *   <li>{@link #outcome()} says whether the work may have been done.
 *   <li>{@link #isRetryable()} says whether doing it again may help.
 *   <li>{@link #code()} says what happened.
 *   <li>{@link #details()} says to which table, key and transaction.
 * </ol>
 *
 * <p>{@link Isolde#run} has done all that can be done safely before this reaches the caller.
 */
public final class IsoldeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Chains of causes longer than any real one, or with a circle, are cut off here. */
  private static final int MAX_CAUSES = 64;

  private final ErrorTrailer trailer;

  IsoldeException(String message, ErrorTrailer trailer, Throwable cause) {
    super(message, cause);
    this.trailer = trailer;
  }

  /**
   * An error that this client found out itself, in the form in which a server would report it.
   *
   * @param transactionId null if there is none
   */
  static IsoldeException ofClient(
      ErrorCode code,
      boolean retryable,
      Outcome outcome,
      UUID transactionId,
      String sentence,
      Throwable cause) {
    Map<String, String> entries = new LinkedHashMap<>();
    entries.put("code", code.name());
    entries.put("retryable", Boolean.toString(retryable));
    entries.put("outcome", outcome.word());
    if (transactionId != null) {
      entries.put("transaction", transactionId.toString());
    }
    ErrorTrailer trailer = new ErrorTrailer(entries);
    return new IsoldeException(sentence + " " + trailer, trailer, cause);
  }

  /** An error that has ended a watch whose changes a node pushes. */
  static IsoldeException ofPush(String code, boolean retryable, String sentence, Throwable cause) {
    Map<String, String> entries = new LinkedHashMap<>();
    entries.put("code", code);
    entries.put("retryable", Boolean.toString(retryable));
    entries.put("outcome", Outcome.NOT_COMMITTED.word());
    ErrorTrailer trailer = new ErrorTrailer(entries);
    return new IsoldeException(sentence + " " + trailer, trailer, cause);
  }

  /**
   * Finds what Isolde said in an error of the driver. For code that works with the driver's result
   * sets, whose later pages fail with exceptions of the driver, or with a session alone.
   *
   * @param error any error; its causes are searched too
   * @return the Isolde error in it, or empty if there is none
   */
  public static Optional<IsoldeException> find(Throwable error) {
    for (Throwable link : causes(error)) {
      if (link instanceof IsoldeException found) {
        return Optional.of(found);
      }
      if (link instanceof DriverException found) {
        Optional<IsoldeException> reported = DriverErrors.reported(found);
        if (reported.isPresent()) {
          return reported;
        }
      }
    }
    return Optional.empty();
  }

  /** What happened; {@link ErrorCode#UNKNOWN} if this client is older than the code. */
  public ErrorCode code() {
    return trailer.code();
  }

  /**
   * True if the same work, as a new transaction, may succeed. It is only safe to do so if {@link
   * #outcome()} is {@link Outcome#NOT_COMMITTED}.
   */
  public boolean isRetryable() {
    return trailer.isRetryable();
  }

  /** Whether the transaction committed. */
  public Outcome outcome() {
    return trailer.outcome();
  }

  /**
   * Everything the error says beside its sentence, in the order of the message: {@code code},
   * {@code retryable}, {@code outcome}, {@code transaction}, and where they apply {@code table},
   * {@code key} and others.
   */
  public Map<String, String> details() {
    return trailer.entries();
  }

  /** The transaction that failed; empty only for an error found by {@link #find}. */
  public Optional<UUID> transactionId() {
    return trailer.transaction();
  }

  /** True if running the work again can't do it twice, and may help. */
  boolean isSafeToRunAgain() {
    return isRetryable() && outcome() == Outcome.NOT_COMMITTED;
  }

  /** The row that another transaction was quicker with, if it was a conflict over one. */
  Optional<String> contendedRow() {
    String table = details().get("table");
    String key = details().get("key");
    return code() == ErrorCode.CONFLICT && table != null && key != null
        ? Optional.of(table + " " + key)
        : Optional.empty();
  }

  boolean isOf(UUID transaction) {
    return transactionId().filter(transaction::equals).isPresent();
  }

  /** A copy with the stack of the calling thread, for an error that another thread noticed. */
  IsoldeException atCaller() {
    return new IsoldeException(getMessage(), trailer, getCause());
  }

  /** This error, naming the transaction if it did not so far. */
  IsoldeException withTransaction(UUID transaction) {
    return with("transaction", transaction.toString());
  }

  /** This error, telling how often the work was tried. */
  IsoldeException afterAttempts(int attempts) {
    return with("attempts", Integer.toString(attempts));
  }

  /** The error, its cause, the cause of that, and so on. */
  static List<Throwable> causes(Throwable error) {
    List<Throwable> chain = new ArrayList<>();
    for (Throwable link = error;
        link != null && chain.size() < MAX_CAUSES;
        link = link.getCause()) {
      chain.add(link);
    }
    return chain;
  }

  /**
   * This error of a transaction of which it is known here that no COMMIT was sent: whatever the
   * node says of it, nothing is committed, and doing the work again is safe.
   */
  IsoldeException asNotCommitted() {
    Map<String, String> entries = new LinkedHashMap<>(trailer.entries());
    entries.put("retryable", "true");
    entries.put("outcome", Outcome.NOT_COMMITTED.word());
    IsoldeException copy = new IsoldeException(getMessage(), new ErrorTrailer(entries), getCause());
    copy.setStackTrace(getStackTrace());
    return copy;
  }

  private IsoldeException with(String name, String value) {
    IsoldeException copy = new IsoldeException(getMessage(), trailer.with(name, value), getCause());
    copy.setStackTrace(getStackTrace());
    return copy;
  }
}
