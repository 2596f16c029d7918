// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NodeUnavailableException;
import com.datastax.oss.driver.api.core.RequestThrottlingException;
import com.datastax.oss.driver.api.core.connection.BusyConnectionException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.connection.FrameTooLongException;
import com.datastax.oss.driver.api.core.connection.HeartbeatException;
import com.datastax.oss.driver.api.core.servererrors.BootstrappingException;
import com.datastax.oss.driver.api.core.servererrors.CoordinatorException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.QueryValidationException;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import com.datastax.oss.driver.api.core.type.codec.CodecNotFoundException;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.RejectedExecutionException;

/** What the driver's exceptions mean for a transaction. */
final class DriverErrors {
  /** Too little was reachable at the moment; the same request may succeed a little later. */
  private static final List<Class<? extends Throwable>> PASSING =
      List.of(
          DriverTimeoutException.class,
          ClosedConnectionException.class,
          HeartbeatException.class,
          BusyConnectionException.class,
          NodeUnavailableException.class,
          RequestThrottlingException.class,
          UnavailableException.class,
          ReadTimeoutException.class,
          WriteTimeoutException.class,
          OverloadedException.class,
          BootstrappingException.class,
          IOException.class); // Of the network, as when a connection ends while it is written to.

  /** The driver gave up before it wrote the request to a connection. */
  private static final List<Class<? extends Throwable>> NEVER_SENT =
      List.of(
          NodeUnavailableException.class,
          BusyConnectionException.class,
          RequestThrottlingException.class);

  /** The request can't be encoded, or not be understood: it was not executed. */
  private static final List<Class<? extends Throwable>> WRONG_IN_ITSELF =
      List.of(
          QueryValidationException.class,
          CodecNotFoundException.class,
          FrameTooLongException.class,
          IllegalArgumentException.class);

  private DriverErrors() {}

  /** The error an Isolde server reported, if this is one. */
  static Optional<IsoldeException> reported(Throwable error) {
    return nodeErrors(error).stream()
        .filter(CoordinatorException.class::isInstance)
        .flatMap(
            found ->
                ErrorTrailer.parse(found.getMessage())
                    .map(trailer -> new IsoldeException(found.getMessage(), trailer, error))
                    .stream())
        .findFirst();
  }

  /**
   * The error as the application sees it: Isolde's own errors and passing failures become an {@link
   * IsoldeException}; everything else, such as a syntax error, stays what it is.
   *
   * <p>Only for requests that come before COMMIT: as long as none was sent, nothing is committed.
   */
  static Throwable beforeCommit(Throwable error, UUID transaction) {
    Optional<IsoldeException> reported = reported(error);
    if (reported.isPresent()) {
      IsoldeException found = reported.get().withTransaction(transaction);
      // Its node restarted. The node can't know that no COMMIT was sent, but here it is known.
      return found.code() == ErrorCode.TRANSACTION_NOT_FOUND ? found.asNotCommitted() : found;
    }
    return isPassing(error) ? requestFailed(error, transaction) : error;
  }

  static IsoldeException requestFailed(Throwable cause, UUID transaction) {
    return IsoldeException.ofClient(
        ErrorCode.REQUEST_FAILED,
        true,
        Outcome.NOT_COMMITTED,
        transaction,
        "A request of the transaction failed before COMMIT was sent: " + cause.getMessage(),
        cause);
  }

  static boolean isPassing(Throwable error) {
    return nodeErrors(error).stream().allMatch(e -> isAnyOf(PASSING, e));
  }

  static boolean isNeverSent(Throwable error) {
    return nodeErrors(error).stream().allMatch(e -> isAnyOf(NEVER_SENT, e));
  }

  /** Whether it is of no use to ask again, whoever is asked. */
  static boolean isFinal(Throwable error) {
    return nodeErrors(error).stream().anyMatch(e -> isWrongInItself(e) || isOfTheProgram(e));
  }

  private static boolean isOfTheProgram(Throwable error) {
    return error instanceof RuntimeException
        && !(error instanceof DriverException)
        && !(error instanceof RejectedExecutionException);
  }

  static boolean isWrongInItself(Throwable error) {
    return isAnyOf(WRONG_IN_ITSELF, error);
  }

  /**
   * The error of the transaction among the causes of what a function threw; errors of the driver
   * count too, as pages that a result set fetches fail with them.
   */
  static Optional<IsoldeException> ofTransaction(UUID transaction, Throwable thrown) {
    for (Throwable link : IsoldeException.causes(thrown)) {
      Throwable seen =
          link instanceof DriverException found && isOf(found, transaction)
              ? beforeCommit(found, transaction)
              : link;
      if (seen instanceof IsoldeException found && found.isOf(transaction)) {
        return Optional.of(found);
      }
    }
    return Optional.empty();
  }

  /** True if the error came from a request that {@link Binding} tied to the transaction. */
  private static boolean isOf(DriverException error, UUID transaction) {
    return error.getExecutionInfo() != null
        && Binding.isBound(error.getExecutionInfo().getRequest(), transaction);
  }

  /** The errors of the single nodes; none if no node could be tried. */
  private static Collection<Throwable> nodeErrors(Throwable error) {
    return error instanceof AllNodesFailedException all
        ? all.getAllErrors().values().stream().flatMap(List::stream).toList()
        : List.of(error);
  }

  private static boolean isAnyOf(List<Class<? extends Throwable>> classes, Throwable error) {
    return classes.stream().anyMatch(each -> each.isInstance(error));
  }
}
