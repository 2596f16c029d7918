// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import com.datastax.oss.driver.api.core.DriverException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.util.Properties;

/**
 * The process of a mail server. Its only argument is a folder, see {@link MailFolder}. It ends with
 * SIGTERM, after the deliveries that have started.
 */
public final class MailProcess {
  private MailProcess() {}

  /** Starts the server, writes its ports into the folder, and stays. */
  public static void main(String[] arguments) throws Exception {
    if (arguments.length != 1) {
      System.err.println("Say the folder of the mail server, and nothing else.");
      System.exit(2);
    }
    MailFolder folder = new MailFolder(Path.of(arguments[0]));
    try {
      run(folder);
    } catch (DriverException | IllegalArgumentException | IOException e) {
      System.err.println("The mail server did not start: " + e.getMessage());
      System.exit(1);
    }
  }

  private static void run(MailFolder folder) throws IOException, GeneralSecurityException {
    MailFolder.Settings settings = folder.read();
    MailStorage storage =
        MailStorage.open(settings.place(), settings.domain(), settings.passwordIterations());
    MailServer server;
    try {
      server = MailServer.start(settings.server(), storage.parts());
    } catch (IOException | RuntimeException e) {
      storage.close();
      throw e;
    }
    Sweeping sweeping = Sweeping.start(storage.contentSweep());
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  server.close();
                  sweeping.close();
                  storage.close();
                },
                "mail-stop"));
    Properties ports = new Properties();
    ports.setProperty(MailFolder.SMTP_PORT, Integer.toString(server.smtpPort()));
    ports.setProperty(MailFolder.POP3_PORT, Integer.toString(server.pop3Port()));
    ports.setProperty(MailFolder.IMAP_PORT, Integer.toString(server.imapPort()));
    Path started = folder.path(MailFolder.STARTED);
    Path written = folder.path(MailFolder.STARTED + ".new");
    try (var out = Files.newBufferedWriter(written)) {
      ports.store(out, "The ports of the mail server");
    }
    // Whoever waits for the file is to see all of it.
    Files.move(written, started, StandardCopyOption.ATOMIC_MOVE);
    // Threads of the server are daemons; SIGTERM ends the process.
    synchronized (folder) {
      while (true) {
        try {
          folder.wait();
        } catch (InterruptedException e) {
          return;
        }
      }
    }
  }
}
