// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionIndex;
import java.util.Optional;
import org.apache.cassandra.exceptions.ReadFailureException;

/** The errors of who reads a past that is gone, here or at another replica. */
final class TooOld {
  private TooOld() {}

  /** Helps with errors of reads: whether this node has given up what a snapshot needs. */
  static Optional<IsoldeException> here(VersionIndex versions, long asOf) {
    if (versions.versions().horizon().covers(asOf)) {
      return Optional.empty();
    }
    return Optional.of(than(versions, asOf, versions.versions().horizon().timestamp()));
  }

  /** So it is most of the time when another replica fails; if not, the next attempt tells. */
  static IsoldeException elsewhere(VersionIndex versions, long asOf, ReadFailureException failure) {
    IsoldeException tooOld =
        IsoldeException.of(
            ErrorCode.SNAPSHOT_TOO_OLD,
            "A replica of "
                + versions.table()
                + " could not read as of that time, most likely as it has restarted since, or as the"
                + " page is larger than what nodes send each other ("
                + failure.getMessage()
                + "); start again. If that goes on, take a smaller page: the log of that replica"
                + " tells why.",
            "table",
            versions.table(),
            "as_of",
            asOf);
    tooOld.addSuppressed(failure);
    return tooOld;
  }

  /** To begin again with the same moment would not help. */
  static IsoldeException asOf(Transaction transaction, IsoldeException tooOld) {
    IsoldeException older =
        IsoldeException.of(
            ErrorCode.AS_OF_TOO_OLD,
            "AS OF "
                + transaction.startTimestamp()
                + " is older than what is kept of "
                + tooOld.details().get("table")
                + ", or than what a replica that has restarted since can tell. Name a later moment;"
                + " CREATE SNAPSHOT keeps one for long.",
            "table",
            tooOld.details().get("table"),
            "as_of",
            transaction.startTimestamp(),
            "horizon",
            tooOld.details().get("horizon"),
            "transaction",
            transaction.id());
    older.addSuppressed(tooOld);
    return older;
  }

  static IsoldeException than(VersionIndex versions, long asOf, long horizon) {
    return IsoldeException.of(
        ErrorCode.SNAPSHOT_TOO_OLD,
        "The snapshot is older than what is kept of "
            + versions.table()
            + " ("
            + NodeVersions.ofThisNode().bytes()
            + " bytes of old versions are in memory); start again.",
        "table",
        versions.table(),
        "as_of",
        asOf,
        "horizon",
        horizon);
  }
}
