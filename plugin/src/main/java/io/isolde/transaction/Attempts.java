// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.replicated.Oracle;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.exceptions.FunctionExecutionException;
import org.apache.cassandra.exceptions.InvalidRequestException;

/**
 * Decides as of a snapshot, and again as of a newer one if others have changed meanwhile what was
 * read. Nobody has seen anything of the attempts before the last one. Bounded by the time for which
 * Cassandra would go on.
 */
final class Attempts {
  /** Pauses after conflicts grow up to 64 ms. */
  private static final int MAX_PAUSE_BITS = 6;

  /** These may come from rows that were replaced before the request was sent. */
  private static final Set<ErrorCode> OF_WHAT_WAS_READ =
      Set.of(ErrorCode.UNIQUE_VIOLATION, ErrorCode.TRANSACTION_TOO_LARGE);

  private final Oracle oracle;
  private final TransactionListener listener;

  Attempts(Oracle oracle, TransactionListener listener) {
    this.oracle = oracle;
    this.listener = listener;
  }

  /** What is attempted. */
  interface Decision<T> {
    /**
     * Decides, and commits what it writes if nothing that it has read has changed since.
     *
     * @param isNewest whether all that was committed before the request is in the snapshot
     * @return empty if nothing was written, and so nothing compared with what is newest
     */
    Optional<T> asOf(long snapshot, boolean isNewest);
  }

  /** The time up to which anything is attempted once more. */
  static long deadlineNanos() {
    return System.nanoTime() + DatabaseDescriptor.getCasContentionTimeout(TimeUnit.NANOSECONDS);
  }

  /**
   * Decides until it is done.
   *
   * @param mayBeOld whether the first attempt may read what this node has heard of, which costs
   *     nothing. If it writes, the oracle checks it
   * @param stay hears of conflicts
   * @throws IsoldeException CONFLICT, if others always were faster; as a commit and as a read
   */
  <T> T decide(
      boolean mayBeOld, long deadlineNanos, HotPartitions.Stay stay, Decision<T> decision) {
    boolean isNewest = !mayBeOld;
    for (int attempt = 1; ; attempt++) {
      long snapshot = isNewest ? oracle.stable() : oracle.stableSoFar();
      try {
        Optional<T> decided = decision.asOf(snapshot, isNewest);
        if (decided.isPresent()) {
          return decided.get();
        }
      } catch (IsoldeException e) {
        if (OF_WHAT_WAS_READ.contains(e.errorCode()) && !isNewest) {
          isNewest = true; // What was in the way may have gone since.
          long unused = oracle.next(); // Snapshots stand still while nobody commits.
          continue;
        }
        if (!mayPass(e, attempt, deadlineNanos)) {
          throw e;
        }
        listener.decidedAgain();
        if (isConflict(e)) {
          stay.conflicted();
        }
        pause(attempt, SnapshotErrors.mayPass(e));
      } catch (InvalidRequestException | FunctionExecutionException e) {
        if (isNewest) { // Else a value may have been read that is not there any more.
          throw e;
        }
      }
      isNewest = true;
    }
  }

  private static boolean mayPass(IsoldeException e, int attempt, long deadlineNanos) {
    return isConflict(e)
        ? System.nanoTime() < deadlineNanos
        : SnapshotErrors.mayPass(e) && attempt < DataStatements.READ_ATTEMPTS;
  }

  static boolean isConflict(IsoldeException e) {
    return e.errorCode() == ErrorCode.CONFLICT || e.errorCode() == ErrorCode.CONFLICT_FORGOTTEN;
  }

  /**
   * What was in the way is visible now, as a rule. If it is not, trying at once is in vain; and
   * after a restart even the newest snapshot is too old for a while.
   */
  private static void pause(int attempt, boolean isTooOld) {
    long millis =
        isTooOld
            ? (attempt - 1) * DataStatements.READ_PAUSE_MILLIS
            : ThreadLocalRandom.current().nextLong(1L << Math.min(attempt - 1, MAX_PAUSE_BITS));
    Uninterruptibles.sleepUninterruptibly(millis, TimeUnit.MILLISECONDS);
  }
}
