// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.killed;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.mail.MailConsistency;
import io.isolde.mail.server.MailFolder;
import io.isolde.mail.server.MailProcess;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A mail server as a process of its own, which can be killed and started again at its ports. */
final class MailServerProcess {
  private static final long MAX_START_SECONDS = 120;

  /** Iterations of hashes: these tests are not about guessing. */
  static final int CHEAP = 10;

  private final MailFolder folder;
  private final Properties settings = new Properties();
  private volatile Process process;

  MailServerProcess(
      Path path, List<InetSocketAddress> nodes, String keyspace, MailConsistency store) {
    folder = new MailFolder(path);
    settings.setProperty(MailFolder.ADDRESS, "127.0.0.1");
    settings.setProperty(MailFolder.SMTP_PORT, "0");
    settings.setProperty(MailFolder.POP3_PORT, "0");
    settings.setProperty(MailFolder.IMAP_PORT, "0");
    settings.setProperty(MailFolder.DOMAIN, "isolde.test");
    settings.setProperty(MailFolder.KEYSPACE, keyspace);
    settings.setProperty(MailFolder.STORE, store.name().toLowerCase(Locale.ROOT));
    settings.setProperty(
        MailFolder.NODES,
        nodes.stream()
            .map(node -> node.getHostString() + ":" + node.getPort())
            .collect(Collectors.joining(",")));
    settings.setProperty(MailFolder.PASSWORDS_IN_CLEAR, "true");
    settings.setProperty(MailFolder.WORKERS, "16");
    settings.setProperty(MailFolder.PASSWORD_ITERATIONS, Integer.toString(CHEAP));
  }

  /**
   * Starts it and waits until its ports are open. They stay the same from then on. If it ends at
   * once, since the cluster can't be reached, it is started again, as a service manager would.
   */
  void start() throws IOException, InterruptedException {
    folder.write(settings);
    Path started = folder.path(MailFolder.STARTED);
    Files.deleteIfExists(started);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_START_SECONDS);
    startProcess();
    while (!Files.exists(started)) {
      if (!process.isAlive()) {
        System.out.printf("A mail server did not start: %s%n", lastLine());
        startProcess();
      }
      assertThat(System.nanoTime()).as("the start of a mail server").isLessThan(deadline);
      Thread.sleep(20);
    }
    Properties ports = new Properties();
    try (var in = Files.newBufferedReader(started)) {
      ports.load(in);
    }
    ports.forEach((name, port) -> settings.setProperty((String) name, (String) port));
  }

  private String lastLine() throws IOException {
    List<String> lines = Files.readAllLines(folder.path(MailFolder.LOG));
    return lines.isEmpty() ? "it said nothing" : lines.get(lines.size() - 1);
  }

  private void startProcess() throws IOException {
    process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx384m",
                "-XX:TieredStopAtLevel=1",
                "-Djava.awt.headless=true",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                "-cp",
                System.getProperty("java.class.path"),
                MailProcess.class.getName(),
                folder.path("").toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.path(MailFolder.LOG).toFile()))
            .start();
  }

  int smtpPort() {
    return Integer.parseInt(settings.getProperty(MailFolder.SMTP_PORT));
  }

  int imapPort() {
    return Integer.parseInt(settings.getProperty(MailFolder.IMAP_PORT));
  }

  /** As kill -9 does. Does nothing to a server that has not started. */
  void kill() throws InterruptedException {
    if (process != null) {
      int unused = process.destroyForcibly().waitFor();
    }
  }
}
