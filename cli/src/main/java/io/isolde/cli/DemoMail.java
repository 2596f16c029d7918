// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.mail.MailConsistency;
import io.isolde.mail.server.MailFolder;
import io.isolde.mail.server.MailServerSettings;
import io.isolde.mail.server.MailStorage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import javax.mail.Folder;
import javax.mail.Message;
import javax.mail.MessagingException;
import javax.mail.Session;
import javax.mail.Store;
import javax.mail.Transport;
import javax.mail.internet.InternetAddress;
import javax.mail.internet.MimeMessage;

/** {@code isolde mail demo}: a message goes through SMTP, and is read by POP3 and by IMAP. */
final class DemoMail {
  private static final String DOMAIN = "cornwall.test";
  private static final String TRISTAN = "tristan@" + DOMAIN;
  private static final String ISOLDE = "isolde@" + DOMAIN;
  private static final String PASSWORD = "a potion for two";
  private static final String HOST = "127.0.0.1";
  private static final int MAX_ROWS_SHOWN = 6;

  private final DemoScript script;

  DemoMail(DemoScript script) {
    this.script = script;
  }

  int run(Home home, String text) {
    script.title("Isolde: a mail server whose mailboxes are transactions in Cassandra");
    script.say("Starting a Cassandra node with Isolde's jar; it takes 10 to 30 seconds.");
    Path path =
        home.folder().toAbsolutePath().resolve("mail-demo-" + ProcessHandle.current().pid());
    MailFolder folder = new MailFolder(path);
    MailDaemon daemon = new MailDaemon(folder);
    try (TemporaryNode node =
        TemporaryNode.start("mail-demo", NodeSpec.standard().withEphemeral(true), script.out())) {
      prepare(folder, node);
      try {
        Properties ports = daemon.start();
        addUsers(folder);
        show(ports, text);
        showTables(node);
      } finally {
        daemon.stop();
      }
    } catch (IOException | GeneralSecurityException | MessagingException e) {
      throw new CommandFailedException("The demo failed: " + e.getMessage(), e);
    } finally {
      remove(path);
    }
    return script.allHeld() ? 0 : 1;
  }

  private void prepare(MailFolder folder, TemporaryNode node) throws IOException {
    Properties settings = new Properties();
    settings.setProperty(MailFolder.ADDRESS, HOST);
    for (String port : List.of(MailFolder.SMTP_PORT, MailFolder.POP3_PORT, MailFolder.IMAP_PORT)) {
      settings.setProperty(port, "0");
    }
    settings.setProperty(MailFolder.WORKERS, Integer.toString(MailServerSettings.WORKERS));
    settings.setProperty(MailFolder.PASSWORDS_IN_CLEAR, "false");
    MailOptions.setOwnCertificate(settings, folder, DOMAIN);
    MailOptions.setPlace(
        settings, node.node().contactPoint(), MailConsistency.TRANSACTIONAL, "mail", DOMAIN);
    folder.write(settings);
    script.say("Starting the mail server, a process of its own.");
  }

  private void addUsers(MailFolder folder) throws IOException, GeneralSecurityException {
    MailFolder.Settings settings = folder.read();
    try (MailStorage storage =
        MailStorage.open(settings.place(), settings.domain(), settings.passwordIterations())) {
      storage.users().add(TRISTAN, PASSWORD);
      storage.users().add(ISOLDE, PASSWORD);
    }
    script.say("There are two users, %s and %s.".formatted(TRISTAN, ISOLDE));
  }

  private void show(Properties ports, String text) throws MessagingException, IOException {
    script.scene("SMTP: " + TRISTAN + " writes");
    send(ports, text);
    script.scene("POP3: " + ISOLDE + " reads");
    read(ports, "pop3", MailFolder.POP3_PORT, text);
    script.scene("IMAP: " + ISOLDE + " reads");
    read(ports, "imap", MailFolder.IMAP_PORT, text);
  }

  /** The certificate is the server's own, so a client has to be asked to trust it. */
  private static Session session(String protocol) {
    Properties properties = new Properties();
    properties.setProperty("mail.%s.starttls.enable".formatted(protocol), "true");
    properties.setProperty("mail.%s.starttls.required".formatted(protocol), "true");
    properties.setProperty("mail.%s.ssl.trust".formatted(protocol), "*");
    properties.setProperty("mail.smtp.auth", "true");
    return Session.getInstance(properties);
  }

  private void send(Properties ports, String text) throws MessagingException {
    Session session = session("smtp");
    MimeMessage message = new MimeMessage(session);
    message.setFrom(new InternetAddress(TRISTAN));
    message.setRecipient(Message.RecipientType.TO, new InternetAddress(ISOLDE));
    message.setSubject("From the ship");
    message.setText(text, "UTF-8");
    Transport transport = session.getTransport("smtp");
    try {
      transport.connect(HOST, port(ports, MailFolder.SMTP_PORT), TRISTAN, PASSWORD);
      message.saveChanges();
      transport.sendMessage(message, message.getAllRecipients());
    } finally {
      transport.close();
    }
    script.say("    STARTTLS, AUTH, MAIL FROM:<%s>, RCPT TO:<%s>, DATA".formatted(TRISTAN, ISOLDE));
    script.say("    250: the message is in the mailbox, and committed");
  }

  private void read(Properties ports, String protocol, String port, String text)
      throws MessagingException, IOException {
    Store store = session(protocol).getStore(protocol);
    try {
      store.connect(HOST, port(ports, port), ISOLDE, PASSWORD);
      Folder inbox = store.getFolder("INBOX");
      inbox.open(Folder.READ_ONLY);
      script.say("    %d message in INBOX".formatted(inbox.getMessageCount()));
      Message message = inbox.getMessage(1);
      script.quote("From: " + message.getFrom()[0]);
      script.quote("Subject: " + message.getSubject());
      script.quote("");
      String read = String.valueOf(message.getContent()).strip();
      script.quote(read);
      script.check(
          inbox.getMessageCount() == 1 && read.equals(text.strip()),
          "one message, as it was written",
          "the message is not as it was written");
      inbox.close(false);
    } finally {
      store.close();
    }
  }

  private void showTables(TemporaryNode node) {
    script.scene("CQL: what is in the tables");
    String cql =
        "SELECT uid, modseq, next_uid, message_count, unseen_count, size_bytes FROM mail.messages"
            + " LIMIT "
            + MAX_ROWS_SHOWN;
    script.cql(cql);
    try (var session = node.connect()) {
      session
          .execute(cql)
          .forEach(
              row ->
                  script.say(
                      "    uid %d, modseq %d, next uid %d, %d message, %d unseen, %d bytes"
                          .formatted(
                              row.getLong("uid"),
                              row.getLong("modseq"),
                              row.getLong("next_uid"),
                              row.getLong("message_count"),
                              row.getLong("unseen_count"),
                              row.getLong("size_bytes"))));
    }
    script.say("  The message, its number and the counts are one commit.");
    script.say("");
    script.say("A server that stays: ./isolde start && ./isolde mail start");
  }

  private static int port(Properties ports, String name) {
    return Integer.parseInt(ports.getProperty(name));
  }

  private static void remove(Path folder) {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException e) {
      throw new CommandFailedException("%s can't be removed.".formatted(folder), e);
    }
  }
}
