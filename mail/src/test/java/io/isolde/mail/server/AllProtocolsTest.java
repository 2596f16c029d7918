// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.mail.connection.MailBounds;
import jakarta.mail.Flags;
import jakarta.mail.Folder;
import jakarta.mail.Message;
import jakarta.mail.Session;
import jakarta.mail.Store;
import jakarta.mail.Transport;
import jakarta.mail.internet.InternetAddress;
import jakarta.mail.internet.MimeMessage;
import java.util.Properties;
import org.eclipse.angus.mail.imap.IMAPFolder;
import org.eclipse.angus.mail.pop3.POP3Folder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A real client, Angus Mail, with each protocol. */
class AllProtocolsTest {
  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server = TestServer.start(MailBounds.standard());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static Session session() {
    return Session.getInstance(new Properties());
  }

  private void send(String subject, String text, boolean isLoggedIn, String... recipients)
      throws Exception {
    Properties properties = new Properties();
    properties.put("mail.smtp.auth", Boolean.toString(isLoggedIn));
    Session session = Session.getInstance(properties);
    MimeMessage message = new MimeMessage(session);
    message.setFrom(new InternetAddress(TestServer.BOB));
    for (String recipient : recipients) {
      message.addRecipient(Message.RecipientType.TO, new InternetAddress(recipient));
    }
    message.setSubject(subject);
    message.setText(text, "UTF-8");
    try (Transport transport = session.getTransport("smtp")) {
      transport.connect(
          "127.0.0.1",
          server.server.smtpPort(),
          isLoggedIn ? TestServer.BOB : null,
          isLoggedIn ? TestServer.PASSWORD : null);
      message.saveChanges();
      transport.sendMessage(message, message.getAllRecipients());
    }
  }

  private Store store(String protocol, String user) throws Exception {
    Store store = session().getStore(protocol);
    int port = protocol.equals("imap") ? server.server.imapPort() : server.server.pop3Port();
    store.connect("127.0.0.1", port, user, TestServer.PASSWORD);
    return store;
  }

  @Test
  void whenAMessageIsSentThenItIsReadByPop3AndByImap() throws Exception {
    send("Grüße", "line\n.dot\n..dots\n", true, TestServer.ALICE);
    try (Store store = store("pop3", TestServer.ALICE);
        Folder folder = store.getFolder("INBOX")) {
      folder.open(Folder.READ_ONLY);
      assertThat(folder.getMessageCount()).isEqualTo(1);
      Message message = folder.getMessage(1);
      assertThat(message.getSubject()).isEqualTo("Grüße");
      assertThat(message.getContent()).isEqualTo("line\r\n.dot\r\n..dots\r\n");
      assertThat(((POP3Folder) folder).getUID(message)).matches("\\d+-\\d+");
    }
    try (Store store = store("imap", "alice");
        Folder folder = store.getFolder("INBOX")) {
      folder.open(Folder.READ_WRITE);
      assertThat(folder.getMessageCount()).isEqualTo(1);
      Message message = folder.getMessage(1);
      assertThat(message.getSubject()).isEqualTo("Grüße");
      assertThat(message.getContent()).isEqualTo("line\r\n.dot\r\n..dots\r\n");
      assertThat(message.getFlags().contains(Flags.Flag.SEEN)).isTrue();
      assertThat(((IMAPFolder) folder).getUID(message)).isEqualTo(1);
    }
  }
}
