// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static java.util.Objects.requireNonNull;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.UUID;

/**
 * Why a transaction was aborted.
 *
 * @param kind what was found
 * @param id the read or overwritten id that is in conflict
 * @param committedAt the commit timestamp of the other transaction, in microseconds; for {@link
 *     Kind#FORGOTTEN} an upper bound of it
 * @param by the other transaction; null if it is no longer known
 */
public record Conflict(Kind kind, long id, long committedAt, UUID by) {
  /** That there is none: the abort was asked for. */
  public static final Conflict REQUESTED = new Conflict(Kind.REQUESTED, 0, 0, null);

  /** What an abort is due to. The names are in saved states. */
  public enum Kind {
    /** An id that was read has been committed since (SERIALIZABLE). */
    READ_WRITE,
    /** An id that was to be replaced has been committed since (SNAPSHOT). */
    WRITE_WRITE,
    /** The oracle no longer knows whether there is a conflict: the transaction is too old. */
    FORGOTTEN,
    /** No conflict: somebody {@linkplain StatusOracle#abort asked for it}. */
    REQUESTED
  }

  public Conflict {
    requireNonNull(kind);
  }

  void writeTo(DataOutput out) throws IOException {
    out.writeUTF(kind.name());
    out.writeLong(id);
    out.writeLong(committedAt);
    TransactionIds.write(by, out);
  }

  static Conflict readFrom(DataInput in) throws IOException {
    Kind kind = Kind.valueOf(in.readUTF());
    return new Conflict(kind, in.readLong(), in.readLong(), TransactionIds.read(in));
  }
}
