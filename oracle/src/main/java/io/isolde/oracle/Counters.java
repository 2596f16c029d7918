// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** What {@link OracleStatistics} counts; written behind a long that is no longer used. */
final class Counters {
  long committed;
  long readWriteAborts;
  long writeWriteAborts;
  long forgottenAborts;
  long requestedAborts;
  long refused;

  void count(Decision decision) {
    if (decision instanceof Decision.Committed) {
      committed++;
    } else if (decision instanceof Decision.Aborted aborted) {
      switch (aborted.conflict().kind()) {
        case READ_WRITE -> readWriteAborts++;
        case WRITE_WRITE -> writeWriteAborts++;
        case FORGOTTEN -> forgottenAborts++;
        case REQUESTED -> requestedAborts++;
      }
    } else {
      refused++;
    }
  }

  Counters copy() {
    Counters copy = new Counters();
    copy.setTo(toArray());
    return copy;
  }

  void writeTo(DataOutput out) throws IOException {
    LongArrays.write(toArray(), out);
  }

  static Counters readFrom(DataInput in) throws IOException {
    Counters counters = new Counters();
    long[] counts = counters.toArray();
    LongArrays.read(counts, in);
    counters.setTo(counts);
    return counters;
  }

  private long[] toArray() {
    return new long[] {
      OracleState.UNUSED,
      committed,
      readWriteAborts,
      writeWriteAborts,
      forgottenAborts,
      requestedAborts,
      refused
    };
  }

  private void setTo(long[] counts) {
    committed = counts[1];
    readWriteAborts = counts[2];
    writeWriteAborts = counts[3];
    forgottenAborts = counts[4];
    requestedAborts = counts[5];
    refused = counts[6];
  }
}
