// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.ycsb;

import java.util.Properties;
import site.ycsb.DB;
import site.ycsb.WorkloadException;
import site.ycsb.workloads.CoreWorkload;

/** YCSB's workload, with updates of several rows besides. Its database is a {@link YcsbDb}. */
final class MultiUpdateWorkload extends CoreWorkload {
  static final int ROWS = 10;
  private static final String MULTI_UPDATE = "MULTIUPDATE";

  private final double share;

  MultiUpdateWorkload(double share) {
    this.share = share;
  }

  @Override
  public void init(Properties settings) throws WorkloadException {
    super.init(settings);
    if (share > 0) {
      operationchooser.addValue(share, MULTI_UPDATE);
    }
  }

  @Override
  public boolean doTransaction(DB database, Object threadState) {
    String operation = operationchooser.nextString();
    switch (operation) {
      case "READ" -> doTransactionRead(database);
      case "UPDATE" -> doTransactionUpdate(database);
      case "INSERT" -> doTransactionInsert(database);
      case "SCAN" -> doTransactionScan(database);
      case "READMODIFYWRITE" -> doTransactionReadModifyWrite(database);
      case MULTI_UPDATE -> ((YcsbDb) database).together(() -> multiUpdate(database));
      default -> throw new IllegalStateException("YCSB has no operation " + operation + ".");
    }
    return true;
  }

  private void multiUpdate(DB database) {
    for (int i = 0; i < ROWS; i++) {
      doTransactionUpdate(database);
    }
  }
}
