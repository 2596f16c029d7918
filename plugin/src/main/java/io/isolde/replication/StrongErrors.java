// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.raft.GroupFailure;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.WriteType;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.exceptions.OverloadedException;
import org.apache.cassandra.exceptions.ReadTimeoutException;
import org.apache.cassandra.exceptions.RequestExecutionException;
import org.apache.cassandra.exceptions.UnavailableException;
import org.apache.cassandra.exceptions.WriteTimeoutException;

/** Failures of groups as Cassandra's own errors, which drivers and applications know. */
final class StrongErrors {
  private StrongErrors() {}

  static RuntimeException ofRead(Throwable failure, ConsistencyLevel consistency) {
    if (failure instanceof GroupFailure group && group.reason() == GroupFailure.Reason.TIMED_OUT) {
      return new ReadTimeoutException(consistency, 0, 1, false);
    }
    return of(failure, consistency);
  }

  /** A write of which it is certain that it was not done is unavailable, else it is timed out. */
  static RuntimeException ofWrite(
      Throwable failure, ConsistencyLevel consistency, WriteType writeType) {
    if (failure instanceof GroupFailure group && group.reason().isOutcomeUnknown()) {
      return new WriteTimeoutException(
          writeType, consistency, 0, 1, String.valueOf(failure.getMessage()));
    }
    return of(failure, consistency);
  }

  private static RuntimeException of(Throwable failure, ConsistencyLevel consistency) {
    if (failure instanceof GroupFailure group) {
      return switch (group.reason()) {
        case OVERLOADED -> new OverloadedException(group.getMessage());
        case REFUSED -> new InvalidRequestException(group.getMessage());
        default -> UnavailableException.create(consistency, 1, 0);
      };
    }
    if (failure instanceof RequestExecutionException
        || failure instanceof InvalidRequestException) {
      return (RuntimeException) failure;
    }
    return failure instanceof RuntimeException unexpected
        ? unexpected
        : new IllegalStateException(failure);
  }
}
