// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.transaction.Transaction;
import org.apache.cassandra.auth.Permission;
import org.apache.cassandra.exceptions.UnauthorizedException;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;

/**
 * A permission to write may be revoked while a transaction is open. What it has written was allowed
 * then, but it is COMMIT that writes it.
 */
final class CommitPermissions {
  private CommitPermissions() {}

  /**
   * Asks once more for the permission to write what the transaction has written.
   *
   * @throws IsoldeException PERMISSION_REVOKED
   */
  static void check(Transaction transaction, ClientState client) {
    for (TableMetadata table : transaction.writtenTables()) {
      try {
        client.ensureTablePermission(table, Permission.MODIFY);
      } catch (UnauthorizedException e) {
        IsoldeException revoked =
            IsoldeException.of(
                ErrorCode.PERMISSION_REVOKED,
                "The permission to write to "
                    + table
                    + " was revoked after the transaction had written to it; it is rolled back. Ask"
                    + " for MODIFY on the table, then run it again.",
                "table",
                table,
                "transaction",
                transaction.id());
        revoked.addSuppressed(e);
        throw revoked;
      }
    }
  }
}
