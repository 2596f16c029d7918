// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import io.isolde.mail.connection.MailBounds;
import io.isolde.mail.delivery.InboxDelivery;
import io.isolde.mail.imap.ImapPort;
import io.isolde.mail.imap.MailAuthenticator;
import io.isolde.mail.login.MailLogins;
import io.isolde.mail.login.MailUsers;
import io.isolde.mail.login.PasswordHash;
import io.isolde.mail.pop3.DropLocks;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import javax.net.ssl.SSLContext;

/** A mail server over James' mailboxes in memory, with the users alice and bob. */
final class TestServer implements AutoCloseable {
  static final String ALICE = "alice@isolde.test";
  static final String BOB = "bob@isolde.test";
  static final String PASSWORD = "correct horse";
  private static final int CHEAP = 100;

  final MailServer server;
  final MapLedger ledger = new MapLedger();
  final ImapPort.Store store;

  private TestServer(MailBounds bounds, boolean isClearAllowed, Optional<SSLContext> tls)
      throws IOException {
    String hash = PasswordHash.of(PASSWORD, CHEAP);
    MailUsers users = address -> Optional.ofNullable(Map.of(ALICE, hash, BOB, hash).get(address));
    MailLogins logins =
        new MailLogins(users, "isolde.test", () -> System.nanoTime() / 1_000_000, CHEAP);
    MailAuthenticator authenticator = new MailAuthenticator(() -> logins);
    store = MemoryMailboxes.open(authenticator);
    server =
        MailServer.start(
            new MailServerSettings(
                "127.0.0.1", 0, 0, 0, "mx.isolde.test", isClearAllowed, tls, 8, bounds),
            new MailServer.Parts(
                logins,
                new InboxDelivery(store.mailboxes(), ledger, InstantSource.system()),
                new MemoryLocks(),
                store));
  }

  static TestServer start(MailBounds bounds) throws IOException {
    return new TestServer(bounds, true, Optional.empty());
  }

  static TestServer startWithTls(SSLContext tls) throws IOException {
    return new TestServer(MailBounds.standard(), false, Optional.of(tls));
  }

  @Override
  public void close() {
    server.close();
  }

  /** Locks of one server. */
  static final class MemoryLocks implements DropLocks {
    private final Set<String> locked = ConcurrentHashMap.newKeySet();

    @Override
    public Optional<Held> tryLock(String address) {
      if (!locked.add(address)) {
        return Optional.empty();
      }
      return Optional.of(
          new Held() {
            @Override
            public boolean isHeld() {
              return locked.contains(address);
            }

            @Override
            public void release() {
              locked.remove(address);
            }
          });
    }

    @Override
    public void close() {}
  }
}
