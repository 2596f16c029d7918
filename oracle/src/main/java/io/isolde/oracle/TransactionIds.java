// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.UUID;

/** Writes and reads transaction ids that may be null. */
final class TransactionIds {
  private TransactionIds() {}

  static void write(UUID transactionId, DataOutput out) throws IOException {
    out.writeBoolean(transactionId != null);
    if (transactionId != null) {
      out.writeLong(transactionId.getMostSignificantBits());
      out.writeLong(transactionId.getLeastSignificantBits());
    }
  }

  static UUID read(DataInput in) throws IOException {
    return in.readBoolean() ? new UUID(in.readLong(), in.readLong()) : null;
  }
}
