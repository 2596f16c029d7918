// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.mail.store.cql.CqlStore;

class StrongContractTest extends JamesContracts {
  @Override
  CqlStore open(CqlSession session, String keyspaceName) {
    return CqlStore.strong(session, keyspaceName);
  }
}
