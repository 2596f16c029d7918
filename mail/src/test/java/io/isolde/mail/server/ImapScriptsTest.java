// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import io.isolde.mail.imap.MailAuthenticator;
import java.io.IOException;

/** Over James' mailboxes in memory, so that it is our part of the protocol that is tested. */
class ImapScriptsTest extends ImapScripts {

  @Override
  ScriptHost open() throws IOException {
    return new ScriptHost(logins -> MemoryMailboxes.open(new MailAuthenticator(() -> logins)));
  }
}
