// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import io.isolde.mail.connection.MailBounds;
import io.isolde.mail.delivery.InboxDelivery;
import io.isolde.mail.imap.ImapPort;
import io.isolde.mail.login.MailLogins;
import io.isolde.mail.login.PasswordHash;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.james.core.Username;
import org.apache.james.core.quota.QuotaCountLimit;
import org.apache.james.core.quota.QuotaSizeLimit;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.model.MailboxACL;
import org.apache.james.mailbox.model.MailboxPath;
import org.apache.james.mpt.api.Continuation;
import org.apache.james.mpt.api.ImapFeatures;
import org.apache.james.mpt.api.ImapHostSystem;
import org.apache.james.mpt.api.Session;

/**
 * A mail server for the scripts of James. Each has a domain of its own, so its users have no
 * mailboxes yet.
 */
final class ScriptHost implements ImapHostSystem, AutoCloseable {
  private static final AtomicInteger hosts = new AtomicInteger();
  private static final int CHEAP = 100;
  private static final int MAX_WAIT_MILLIS = 10_000;
  private static final Pattern RIGHTS = Pattern.compile("^(\\S+ (?:SETACL|DELETEACL) \\S+ \\w+)");
  private static final Pattern LITERAL = Pattern.compile("\\{(\\d+)\\+?}$");

  /** The scripts name James' greeting; a server may send another one. */
  private static final String GREETING = "* OK IMAP4rev1 Server ready";

  private final Map<String, String> users = new ConcurrentHashMap<>();
  private final String domain = "host%d.test".formatted(hosts.incrementAndGet());
  private final MailLogins logins =
      new MailLogins(address -> Optional.ofNullable(users.get(address)), domain, () -> 0, CHEAP);
  private final ImapPort.Store store;
  private final MailServer server;

  /** Makes the mailboxes of a server, whose users are known later. */
  interface Mailboxes {
    ImapPort.Store open(MailLogins logins);
  }

  ScriptHost(Mailboxes mailboxes) throws IOException {
    store = mailboxes.open(logins);
    server =
        MailServer.start(
            new MailServerSettings(
                "127.0.0.1",
                0,
                0,
                0,
                "mx.isolde.test",
                true,
                Optional.empty(),
                8,
                MailBounds.standard()),
            new MailServer.Parts(
                logins, new InboxDelivery(store.mailboxes()), new TestServer.MemoryLocks(), store));
  }

  @Override
  public boolean addUser(Username user, String password) throws Exception {
    users.put(logins.address(user.asString()), PasswordHash.of(password, CHEAP));
    // James' own host makes an inbox for whoever logs in, and subscribes to it. Ours makes it with
    // the first message, and leaves subscriptions to clients.
    MailboxSession session = session(user);
    InboxDelivery.inbox(store.mailboxes(), session);
    store.subscriptions().subscribe(session, MailboxPath.inbox(session));
    return true;
  }

  private Username name(Username user) {
    return Username.of(logins.address(user.asString()));
  }

  private MailboxSession session(Username user) {
    return store.mailboxes().createSystemSession(name(user));
  }

  private MailboxPath path(MailboxPath path) {
    return new MailboxPath(path.getNamespace(), name(path.getUser()), path.getName());
  }

  @Override
  public void createMailbox(MailboxPath mailbox) throws Exception {
    store.mailboxes().createMailbox(path(mailbox), session(mailbox.getUser()));
  }

  @Override
  public void grantRights(MailboxPath mailbox, Username user, MailboxACL.Rfc4314Rights rights)
      throws Exception {
    store
        .mailboxes()
        .applyRightsCommand(
            path(mailbox),
            MailboxACL.command().forUser(name(user)).rights(rights).asAddition(),
            session(mailbox.getUser()));
  }

  @Override
  public boolean supports(ImapFeatures.Feature... features) {
    return ImapFeatures.of(
            ImapFeatures.Feature.NAMESPACE_SUPPORT,
            ImapFeatures.Feature.MOVE_SUPPORT,
            ImapFeatures.Feature.USER_FLAGS_SUPPORT,
            ImapFeatures.Feature.ANNOTATION_SUPPORT,
            ImapFeatures.Feature.MOD_SEQ_SEARCH)
        .supports(features);
  }

  @Override
  public void setQuotaLimits(QuotaCountLimit messages, QuotaSizeLimit bytes) {
    throw new UnsupportedOperationException("There are no quotas");
  }

  @Override
  public void beforeTest() {}

  @Override
  public void afterTest() {}

  @Override
  public Session newSession(Continuation continuation) throws IOException {
    return new ScriptSession(continuation);
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.imapPort());
    socket.setSoTimeout(MAX_WAIT_MILLIS);
    socket.setTcpNoDelay(true); // scripts send line after line
    return socket;
  }

  @Override
  public void close() {
    server.close();
  }

  private final class ScriptSession implements Session {
    private final Socket socket = connect();
    private final InputStream in = new BufferedInputStream(socket.getInputStream());
    private final Continuation continuation;
    private boolean isGreeted;

    /** The bytes of a literal that are still to come. */
    private int literal;

    ScriptSession(Continuation continuation) throws IOException {
      this.continuation = continuation;
    }

    @Override
    public String readLine() throws IOException {
      String line = line();
      if (!isGreeted) {
        isGreeted = true;
        return GREETING;
      }
      if (line.startsWith("+")) {
        continuation.doContinue();
      }
      return line.replace("@" + domain, ""); // scripts know users without a domain
    }

    /** Only LF ends a line: part of a message may end in CR. */
    private String line() throws IOException {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      int next = in.read();
      while (next >= 0 && next != '\n') {
        line.write(next);
        next = in.read();
      }
      String text = line.toString(StandardCharsets.UTF_8);
      return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
    }

    @Override
    public void writeLine(String line) throws IOException {
      String sent = RIGHTS.matcher(line).replaceFirst("$1@" + domain) + "\r\n";
      int length = sent.getBytes(StandardCharsets.UTF_8).length;
      if (literal > 0 && literal == length - 1) {
        sent =
            line + "\r\r\n"; // the script counts one byte more than it has; James asks for LF only
      }
      literal = Math.max(0, literal - length);
      Matcher announced = LITERAL.matcher(line);
      if (literal == 0 && announced.find()) {
        literal = Integer.parseInt(announced.group(1));
      }
      socket.getOutputStream().write(sent.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void start() {}

    @Override
    public void restart() {
      throw new UnsupportedOperationException("A connection starts once");
    }

    @Override
    public void stop() throws IOException {
      socket.close();
    }

    @Override
    public void await() throws InterruptedException {
      Thread.sleep(100);
    }
  }
}
