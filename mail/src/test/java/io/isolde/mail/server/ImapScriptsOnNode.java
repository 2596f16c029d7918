// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.junit.IsoldeTest;
import io.isolde.mail.MailConsistency;
import io.isolde.mail.MailStore;
import io.isolde.mail.imap.ImapPort;
import io.isolde.mail.imap.MailAuthenticator;
import io.isolde.mail.login.MailLogins;
import java.io.IOException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * Over transactional tables. It runs by {@code -Dtest=ImapScriptsOnNode} and not in the build: on a
 * busy machine a client may hear of its own change once more, and scripts expect it once.
 */
@IsoldeTest
class ImapScriptsOnNode extends ImapScripts {
  private static MailStore store;
  private static MailLogins logins;

  @BeforeAll
  static void start(CqlSession session) {
    MailAuthenticator authenticator = new MailAuthenticator(() -> logins);
    store =
        MailStore.open(
            session, "mail_scripts", MailConsistency.TRANSACTIONAL, authenticator, authenticator);
  }

  @AfterAll
  static void end() {
    store.close();
  }

  @Override
  ScriptHost open() throws IOException {
    return new ScriptHost(
        ofHost -> {
          logins = ofHost;
          return new ImapPort.Store(
              store.mailboxManager(),
              store.subscriptionManager(),
              store.eventBus(),
              store.quotaManager(),
              store.quotaRootResolver());
        });
  }
}
