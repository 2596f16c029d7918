// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static io.isolde.mail.server.TestServer.ALICE;
import static io.isolde.mail.server.TestServer.PASSWORD;
import static org.assertj.core.api.Assertions.assertThat;

import jakarta.mail.Folder;
import jakarta.mail.Message;
import jakarta.mail.Session;
import jakarta.mail.Store;
import jakarta.mail.Transport;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeMessage;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Passwords need TLS, and nothing that came in clear is taken for encrypted. */
class TlsTest {
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

  private static void assertEndsAfterOneAnswer(RawClient client) throws Exception {
    String first = client.read();
    assertThat(first == null ? null : client.read()).isNull();
  }
}
