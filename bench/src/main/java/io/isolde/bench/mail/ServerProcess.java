// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Processes;
import io.isolde.bench.nodes.ChildProcess;
import io.isolde.bench.nodes.TemporaryFolder;
import io.isolde.cluster.ToolException;
import io.isolde.mail.server.MailFolder;
import io.isolde.mail.server.MailServerSettings;
import io.isolde.mail.server.MailStorage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.stream.Collectors;

/** A mail server as a process, with a folder and ports of its own. */
final class ServerProcess implements AutoCloseable {

  /** As the command line gives it. */
  private static final int HEAP_MEGABYTES = 768;

  private static final int MAX_START_SECONDS = 180;

  private final TemporaryFolder home;
  private final ChildProcess process;
  private final InetSocketAddress smtp;

  private ServerProcess(TemporaryFolder home, ChildProcess process, InetSocketAddress smtp) {
    this.home = home;
    this.process = process;
    this.smtp = smtp;
  }

  /** Starts one, and waits until its ports are open. */
  static ServerProcess start(String name, MailStorage.Place place, String domain) {
    TemporaryFolder home = new TemporaryFolder("mail-" + name);
    MailFolder folder = new MailFolder(home.path());
    try {
      folder.write(settings(place, domain));
    } catch (IOException e) {
      home.close();
      throw new ToolException("The mail server's settings can't be written: " + e + ".", e);
    }
    ChildProcess process =
        ChildProcess.start(
            "mail-" + name,
            System.getProperty("java.class.path"),
            MailMain.class,
            folder.path(MailFolder.LOG),
            HEAP_MEGABYTES,
            List.of(home.path().toString()));
    try {
      return new ServerProcess(home, process, awaitSmtp(folder, process));
    } catch (RuntimeException e) {
      process.close();
      home.close();
      throw e;
    }
  }

  private static Properties settings(MailStorage.Place place, String domain) {
    Properties settings = new Properties();
    settings.setProperty(
        MailFolder.NODES,
        place.nodes().stream()
            .map(node -> node.getHostString() + ":" + node.getPort())
            .collect(Collectors.joining(",")));
    settings.setProperty(MailFolder.STORE, place.consistency().name().toLowerCase(Locale.ROOT));
    settings.setProperty(MailFolder.KEYSPACE, place.keyspace());
    settings.setProperty(MailFolder.DOMAIN, domain);
    settings.setProperty(MailFolder.ADDRESS, InetAddress.getLoopbackAddress().getHostAddress());
    settings.setProperty(MailFolder.SMTP_PORT, "0");
    settings.setProperty(MailFolder.POP3_PORT, "0");
    settings.setProperty(MailFolder.IMAP_PORT, "0");
    settings.setProperty(MailFolder.WORKERS, Integer.toString(MailServerSettings.WORKERS));
    settings.setProperty(MailFolder.PASSWORDS_IN_CLEAR, "true");
    return settings;
  }

  private static InetSocketAddress awaitSmtp(MailFolder folder, ChildProcess process) {
    Pause.until(
        "the mail server listens",
        MAX_START_SECONDS,
        () -> {
          if (!process.isAlive()) {
            throw new ToolException("The mail server has ended: " + process.lastWords());
          }
          return Files.exists(folder.path(MailFolder.STARTED));
        });
    Properties ports = new Properties();
    try (var in = Files.newBufferedReader(folder.path(MailFolder.STARTED))) {
      ports.load(in);
    } catch (IOException e) {
      throw new ToolException("The mail server's ports can't be read: " + e + ".", e);
    }
    return new InetSocketAddress(
        InetAddress.getLoopbackAddress(),
        Integer.parseInt(ports.getProperty(MailFolder.SMTP_PORT)));
  }

  /** Where messages go. */
  InetSocketAddress smtp() {
    return smtp;
  }

  /** What it uses. */
  Processes processes() {
    return ChildProcess.together(List.of(process));
  }

  /** The end of its log. */
  String lastWords() {
    return process.lastWords();
  }

  @Override
  public void close() {
    process.close();
    home.close();
  }
}
