// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.rerun;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NoNodeAvailableException;
import com.datastax.oss.driver.api.core.NodeUnavailableException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.ReadTimeoutException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import com.datastax.oss.driver.api.core.servererrors.WriteTimeoutException;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsoldeException;
import io.isolde.cluster.ClusterException;
import io.isolde.system.NotInTimeError;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;

/**
 * The failures that show a machine that is too busy for a bound, each with its cause. Nothing else
 * may be repeated: a difference, an anomaly or a broken invariant is a fault, however rare.
 */
enum LateNodes {
  /** Nodes share two cores, and starting one is work of half a minute of one core. */
  PROCESS("a node did not start, end or see the others within its bound"),
  /** What must come true in the end did not within minutes. */
  CONDITION("what was waited for did not come true in time"),
  /** The garbage collector or the compiler had the cores of a node. */
  NO_ANSWER("the driver got no answer in time, or lost the connection"),
  /** A node took another one for dead, or was too busy to answer it. */
  REPLICAS("replicas did not answer a node in time"),
  /** The members of the oracle took longer than its bounds to agree on a leader, or to answer. */
  ORACLE("a node had no oracle in time");

  private static final int MAX_CAUSES = 64;
  private static final Set<ErrorCode> LATE_ORACLE =
      EnumSet.of(
          ErrorCode.UNAVAILABLE,
          ErrorCode.ORACLE_UNAVAILABLE,
          ErrorCode.ORACLE_OVERLOADED,
          ErrorCode.COORDINATOR_FENCED);

  private final String cause;

  LateNodes(String cause) {
    this.cause = cause;
  }

  /** Returns the cause, in words. */
  String cause() {
    return cause;
  }

  /**
   * Returns why a failure is one of nodes that were late; empty if it may be a wrong answer. An
   * assertion anywhere among its causes is one.
   */
  static Optional<LateNodes> of(Throwable failure) {
    List<Throwable> causes = causes(failure);
    if (causes.stream().anyMatch(LateNodes::isWrongAnswer)) {
      return Optional.empty();
    }
    return causes.stream().flatMap(cause -> matching(cause).stream()).findFirst();
  }

  private static Optional<LateNodes> matching(Throwable error) {
    for (LateNodes one : values()) {
      if (one.holds(error)) {
        return Optional.of(one);
      }
    }
    return Optional.empty();
  }

  private boolean holds(Throwable error) {
    return switch (this) {
      case PROCESS ->
          error instanceof ClusterException late
              && late.reason() == ClusterException.Reason.TIMEOUT;
      case CONDITION -> isAny(error, NotInTimeError.class, TimeoutException.class);
      case NO_ANSWER ->
          isAny(
              error,
              DriverTimeoutException.class,
              NoNodeAvailableException.class,
              NodeUnavailableException.class,
              ClosedConnectionException.class);
      case REPLICAS ->
          isAny(
              error,
              ReadTimeoutException.class,
              WriteTimeoutException.class,
              UnavailableException.class,
              OverloadedException.class);
      case ORACLE ->
          IsoldeException.find(error).filter(late -> LATE_ORACLE.contains(late.code())).isPresent();
    };
  }

  private static boolean isWrongAnswer(Throwable error) {
    return error instanceof AssertionError && !(error instanceof NotInTimeError);
  }

  private static boolean isAny(Throwable error, Class<?>... types) {
    return List.of(types).stream().anyMatch(type -> type.isInstance(error));
  }

  /** The failure, its causes, and what each node said where all of them failed. */
  private static List<Throwable> causes(Throwable failure) {
    List<Throwable> causes = new ArrayList<>(List.of(failure));
    for (int i = 0; i < causes.size() && causes.size() < MAX_CAUSES; i++) {
      Throwable error = causes.get(i);
      if (error.getCause() != null && !causes.contains(error.getCause())) {
        causes.add(error.getCause());
      }
      if (error instanceof AllNodesFailedException all) {
        all.getAllErrors().values().forEach(causes::addAll);
      }
    }
    return causes;
  }
}
