// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.mail.connection.MailBounds;
import io.isolde.mail.delivery.InboxDelivery;
import io.isolde.mail.imap.ImapPort;
import io.isolde.mail.imap.MailAuthenticator;
import io.isolde.mail.login.MailLogins;
import io.isolde.mail.login.MailUsers;
import io.isolde.mail.login.PasswordHash;
import io.isolde.mail.pop3.DropLocks;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;
import org.apache.james.core.Username;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.model.FetchGroup;
import org.apache.james.mailbox.model.MessageRange;
import org.apache.james.mailbox.model.MessageResult;

/** A mail server over James' mailboxes in memory, with the users alice and bob. */
final class TestServer implements AutoCloseable {
  static final String ALICE = "alice@isolde.test";
  static final String BOB = "bob@isolde.test";
  static final String PASSWORD = "correct horse";
  private static final int CHEAP = 100;

  final MailServer server;
  final MemoryLocks locks = new MemoryLocks();
  final ImapPort.Store store;

  /** Nothing can be delivered, as if the cluster were away. */
  volatile boolean isBroken;

  private TestServer(
      MailBounds bounds,
      boolean isClearAllowed,
      Optional<SSLContext> tls,
      UnaryOperator<MailboxManager> mailboxes)
      throws IOException {
    String hash = PasswordHash.of(PASSWORD, CHEAP);
    MailUsers users = address -> Optional.ofNullable(Map.of(ALICE, hash, BOB, hash).get(address));
    MailLogins logins = new MailLogins(users, "isolde.test", () -> 0, CHEAP);
    MailAuthenticator authenticator = new MailAuthenticator(() -> logins);
    store = MemoryMailboxes.open(authenticator);
    server =
        MailServer.start(
            new MailServerSettings(
                "127.0.0.1", 0, 0, 0, "mx.isolde.test", isClearAllowed, tls, 8, bounds),
            new MailServer.Parts(
                logins,
                new InboxDelivery(breaking(store.mailboxes())),
                locks,
                new ImapPort.Store(
                    mailboxes.apply(store.mailboxes()),
                    store.subscriptions(),
                    store.events(),
                    store.quotas(),
                    store.quotaRoots())));
  }

  static TestServer start(MailBounds bounds) throws IOException {
    return new TestServer(bounds, true, Optional.empty(), UnaryOperator.identity());
  }

  /** A server whose clients read from other mailboxes than those that messages come into. */
  static TestServer startReading(UnaryOperator<MailboxManager> mailboxes) throws IOException {
    return new TestServer(MailBounds.standard(), true, Optional.empty(), mailboxes);
  }

  static TestServer startWithTls(SSLContext tls) throws IOException {
    return new TestServer(MailBounds.standard(), false, Optional.of(tls), UnaryOperator.identity());
  }

  /** The same mailboxes, as long as the store is not broken. */
  private MailboxManager breaking(MailboxManager mailboxes) {
    return (MailboxManager)
        Proxy.newProxyInstance(
            MailboxManager.class.getClassLoader(),
            new Class<?>[] {MailboxManager.class},
            (proxy, method, arguments) -> {
              if (isBroken && method.getName().equals("getMailbox")) {
                throw new MailboxException("The cluster is away");
              }
              try {
                return method.invoke(mailboxes, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** Sends a message from elsewhere. */
  void deliver(String recipient, String message) throws Exception {
    try (RawClient client = new RawClient(server.smtpPort())) {
      client.readAnswer();
      client.say("EHLO client.test");
      client.say("MAIL FROM:<sender@elsewhere.test>");
      client.say("RCPT TO:<" + recipient + ">");
      client.say("DATA");
      client.send(message + ".\r\n");
      assertThat(client.readAnswer()).startsWith("250");
    }
  }

  /** Waits until the server has no more connections than these. */
  void awaitConnections(int count) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (server.connections() > count) {
      assertThat(System.nanoTime()).as("connections are still open").isLessThan(deadline);
      Thread.sleep(10);
    }
  }

  /** The messages of a user's inbox, each byte a character. */
  List<String> inbox(String user) throws Exception {
    MailboxSession session = store.mailboxes().createSystemSession(Username.of(user));
    List<String> messages = new ArrayList<>();
    Iterator<MessageResult> found =
        InboxDelivery.inbox(store.mailboxes(), session)
            .getMessages(MessageRange.all(), FetchGroup.FULL_CONTENT, session);
    while (found.hasNext()) {
      byte[] bytes = found.next().getFullContent().getInputStream().readAllBytes();
      messages.add(new String(bytes, StandardCharsets.ISO_8859_1));
    }
    return messages;
  }

  @Override
  public void close() {
    server.close();
  }

  /** Locks of one server. */
  static final class MemoryLocks implements DropLocks {
    private final Set<String> locked = ConcurrentHashMap.newKeySet();

    /** What a pause of the server can do. */
    void loseAll() {
      locked.clear();
    }

    @Override
    public Optional<Held> tryLock(String address) {
      if (!locked.add(address)) {
        return Optional.empty();
      }
      return Optional.of(
          new Held() {
            private final AtomicBoolean isOpen = new AtomicBoolean(true);

            @Override
            public boolean isHeld() {
              return isOpen.get() && locked.contains(address);
            }

            @Override
            public void release() {
              if (isOpen.getAndSet(false)) {
                locked.remove(address);
              }
            }
          });
    }

    @Override
    public void close() {}
  }
}
