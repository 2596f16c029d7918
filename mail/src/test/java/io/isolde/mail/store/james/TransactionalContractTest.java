// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.mail.store.cql.MailboxStore;

class TransactionalContractTest extends JamesContracts {
  @Override
  MailboxStore open(CqlSession session, String keyspaceName) {
    return MailboxStore.transactional(session, keyspaceName);
  }
}
