// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.StartLock;
import io.isolde.mail.server.MailFolder;
import io.isolde.mail.server.MailProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The process of a mail server that goes on when this one ends. */
final class MailDaemon {

  /** The first start creates a keyspace and its tables. */
  private static final Duration MAX_START = Duration.ofMinutes(3);

  /** Deliveries that have started end first. */
  private static final Duration MAX_STOP = Duration.ofSeconds(60);

  /** Another command starts it; it is seen soon enough whether that works. */
  private static final Duration MAX_OTHER_START = Duration.ofSeconds(10);

  private static final long POLL_MILLIS = 100;
  private static final int MAX_LOG_LINES = 5;

  private final MailFolder folder;

  MailDaemon(MailFolder folder) {
    this.folder = folder;
  }

  /** Taken by who looks whether it runs, and starts it. */
  StartLock lock() throws IOException {
    Files.createDirectories(folder.path(""));
    return StartLock.take(folder.path("mail.lock"), MAX_OTHER_START, "the mail server");
  }

  /** Returns the process, if it runs. */
  Optional<ProcessHandle> process() {
    try {
      if (!Files.exists(pidFile())) {
        return Optional.empty();
      }
      List<String> lines = Files.readAllLines(pidFile());
      // The number may be another process's by now; that one started at another time.
      return ProcessHandle.of(Long.parseLong(lines.get(0)))
          .filter(ProcessHandle::isAlive)
          .filter(process -> startOf(process).equals(lines.get(1)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      return Optional.empty(); // who wrote the file has died over it
    }
  }

  private Path pidFile() {
    return folder.path("mail.pid");
  }

  private static String startOf(ProcessHandle process) {
    return process.info().startInstant().map(Object::toString).orElse("unknown");
  }

  /**
   * Starts the process and waits until its ports are open.
   *
   * @throws CommandFailedException if it ends before, or takes too long
   */
  Properties start() {
    Path started = folder.path(MailFolder.STARTED);
    Path log = folder.path(MailFolder.LOG);
    try {
      Files.deleteIfExists(started);
      Process process =
          new ProcessBuilder(command())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
              .start();
      Files.write(pidFile(), List.of(Long.toString(process.pid()), startOf(process.toHandle())));
      long deadline = System.nanoTime() + MAX_START.toNanos();
      while (!Files.exists(started)) {
        if (!process.isAlive()) {
          throw new CommandFailedException("The mail server did not start: %s".formatted(end(log)));
        }
        if (System.nanoTime() - deadline > 0) {
          process.destroy();
          throw new CommandFailedException(
              "The mail server did not start within %d s; see %s."
                  .formatted(MAX_START.toSeconds(), log));
        }
        Thread.sleep(POLL_MILLIS);
      }
      return ports();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailedException("Nobody waits for the mail server any longer.");
    }
  }

  private List<String> command() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx768m",
        "-XX:+ExitOnOutOfMemoryError",
        "-Djava.awt.headless=true",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        "-Dorg.slf4j.simpleLogger.showDateTime=true",
        "-cp",
        System.getProperty("java.class.path"),
        MailProcess.class.getName(),
        folder.path("").toString());
  }

  private static String end(Path log) throws IOException {
    List<String> lines = Files.readAllLines(log);
    return String.join(" ", lines.subList(Math.max(0, lines.size() - MAX_LOG_LINES), lines.size()));
  }

  /** The ports of a server that runs. */
  Properties ports() {
    Properties ports = new Properties();
    try (var in = Files.newBufferedReader(folder.path(MailFolder.STARTED))) {
      ports.load(in);
    } catch (IOException e) {
      throw new CommandFailedException("The mail server has not said its ports yet.", e);
    }
    return ports;
  }

  /** Stops the process, if it runs; returns whether it did. */
  boolean stop() {
    Optional<ProcessHandle> running = process();
    running.ifPresent(MailDaemon::end);
    try {
      Files.deleteIfExists(pidFile());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return running.isPresent();
  }

  private static void end(ProcessHandle process) {
    process.destroy();
    try {
      process.onExit().get(MAX_STOP.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException | ExecutionException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
