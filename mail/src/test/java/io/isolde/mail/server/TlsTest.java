// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static io.isolde.mail.server.TestServer.ALICE;
import static io.isolde.mail.server.TestServer.PASSWORD;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import jakarta.mail.Folder;
import jakarta.mail.Message;
import jakarta.mail.Session;
import jakarta.mail.Store;
import jakarta.mail.Transport;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeMessage;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Properties;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Passwords need TLS, and nothing that came in clear is taken for encrypted. */
class TlsTest {
  private static final int TLS_CLIENTS = 300;
  private static final int MAX_WAIT_MILLIS = 30_000;

  private static TestServer server;

  @BeforeAll
  static void start(@TempDir Path folder) throws Exception {
    Path file = folder.resolve("own.p12");
    OwnCertificate.createIfMissing(file, "mx.isolde.test", "secret");
    server = TestServer.startWithTls(MailFolder.tls(file, "secret"));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static Session session(String protocol) {
    Properties properties = new Properties();
    properties.put("mail." + protocol + ".starttls.enable", "true");
    properties.put("mail." + protocol + ".starttls.required", "true");
    properties.put("mail." + protocol + ".ssl.trust", "*");
    properties.put("mail." + protocol + ".ssl.checkserveridentity", "false");
    properties.put("mail.smtp.auth", "true");
    return Session.getInstance(properties);
  }

  @Test
  void whenClientsEncryptThenTheyCanSendAndRead() throws Exception {
    Session session = session("smtp");
    MimeMessage message = new MimeMessage(session);
    message.setFrom(new InternetAddress(ALICE));
    message.addRecipient(Message.RecipientType.TO, new InternetAddress(ALICE));
    message.setText("text");
    message.saveChanges();
    try (Transport transport = session.getTransport("smtp")) {
      transport.connect("127.0.0.1", server.server.smtpPort(), ALICE, PASSWORD);
      transport.sendMessage(message, message.getAllRecipients());
    }
    for (String protocol : new String[] {"pop3", "imap"}) {
      int port = protocol.equals("pop3") ? server.server.pop3Port() : server.server.imapPort();
      try (Store store = session(protocol).getStore(protocol)) {
        store.connect("127.0.0.1", port, ALICE, PASSWORD);
        try (Folder folder = store.getFolder("INBOX")) {
          folder.open(Folder.READ_ONLY);
          assertThat(folder.getMessageCount()).as(protocol).isEqualTo(1);
          assertThat(folder.getMessage(1).getContent()).isEqualTo("text\r\n");
        }
      }
    }
    assertThat(server.inbox(ALICE).get(0)).contains("with ESMTPSA ID");
  }

  @Test
  void whenAPasswordComesInClearThenNobodyLooksAtIt() throws Exception {
    try (RawClient smtp = new RawClient(server.server.smtpPort());
        RawClient pop3 = new RawClient(server.server.pop3Port());
        RawClient imap = new RawClient(server.server.imapPort())) {
      smtp.readAnswer();
      smtp.send("EHLO client.test\r\n");
      StringBuilder extensions = new StringBuilder();
      String line;
      do {
        line = smtp.read();
        extensions.append(line).append('\n');
      } while (line.charAt(3) == '-');
      assertThat(extensions.toString()).contains("STARTTLS").doesNotContain("AUTH");
      assertThat(smtp.say("AUTH PLAIN AGFsaWNlAHNlY3JldA==")).startsWith("538");
      pop3.read();
      assertThat(pop3.say("USER alice")).startsWith("-ERR");
      imap.read();
      imap.send("a LOGIN alice \"" + PASSWORD + "\"\r\n");
      assertThat(imap.readTagged("a")).startsWith("a NO");
    }
  }

  @Test
  void whenACommandHidesBehindStarttlsThenTheConnectionEnds() throws Exception {
    for (String behind : new String[] {"NOOP\r\n", "NO"}) {
      try (RawClient smtp = new RawClient(server.server.smtpPort());
          RawClient pop3 = new RawClient(server.server.pop3Port());
          RawClient imap = new RawClient(server.server.imapPort())) {
        smtp.readAnswer();
        smtp.say("EHLO client.test");
        smtp.send("STARTTLS\r\n" + behind);
        assertEndsAfterOneAnswer(smtp);
        pop3.read();
        pop3.send("STLS\r\n" + behind);
        assertEndsAfterOneAnswer(pop3);
        imap.read();
        imap.send("a STARTTLS\r\nb " + behind);
        assertEndsAfterOneAnswer(imap);
      }
    }
  }

  @Test
  void whenACommandHidesBehindStarttlsAndBothBehindALiteralThenTheConnectionEnds()
      throws Exception {
    for (boolean isTogether : new boolean[] {true, false}) {
      try (RawClient imap = new RawClient(server.server.imapPort())) {
        imap.read();
        imap.send("a LOGIN {5}\r\n");
        assertThat(imap.readUntil("+")).isNotNull();
        String behind = "c CAPABILITY\r\n";
        imap.send("alice wrong\r\nb STARTTLS\r\n" + (isTogether ? behind : ""));
        if (!isTogether) {
          imap.trySend(behind);
        }
        assertNothingIsAnswered(imap);
      }
    }
  }

  private static void assertNothingIsAnswered(RawClient imap) throws Exception {
    String line = imap.read();
    while (line != null) {
      assertThat(line).doesNotStartWith("* CAPABILITY").doesNotStartWith("c ");
      line = imap.read();
    }
  }

  @Test
  void whenManyClientsStartTlsThenEachHasOneAnswerInClearAndNoneBehindIt() throws Exception {
    for (int i = 0; i < TLS_CLIENTS; i++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.server.imapPort())) {
        socket.setSoTimeout(MAX_WAIT_MILLIS);
        assertThat(line(socket)).startsWith("* OK");
        assertThat(say(socket, "a STARTTLS")).startsWith("a OK");
        try (Socket tls = encrypted(socket)) {
          assertThat(say(tls, "b CAPABILITY")).startsWith("* CAPABILITY");
          assertThat(line(tls)).startsWith("b OK");
        }
      }
    }
  }

  private static Socket encrypted(Socket socket) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
    return context.getSocketFactory().createSocket(socket, "127.0.0.1", socket.getPort(), true);
  }

  private static String say(Socket socket, String command) throws Exception {
    socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
    return line(socket);
  }

  /** Reads no byte beyond the line. */
  private static String line(Socket socket) throws Exception {
    StringBuilder line = new StringBuilder();
    for (int next = socket.getInputStream().read();
        next >= 0 && next != '\n';
        next = socket.getInputStream().read()) {
      line.append((char) next);
    }
    return line.toString();
  }

  private static void assertEndsAfterOneAnswer(RawClient client) throws Exception {
    String first = client.read();
    assertThat(first == null ? null : client.read()).isNull();
  }
}
