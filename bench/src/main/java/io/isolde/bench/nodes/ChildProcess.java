// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.nodes;

import io.isolde.bench.kit.Processes;
import io.isolde.cluster.ToolException;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A JVM that belongs to a benchmark. It ends when it is closed, and also when this process ends in
 * whatever way, since its standard input ends then.
 */
public final class ChildProcess implements AutoCloseable {
  /** Options for all of them, such as a recording's; for those who look for what is slow. */
  static final String OPTIONS_PROPERTY = "isolde.bench.child.options";

  private static final int HEAP_MEGABYTES = 512;

  private final String name;
  private final Path log;
  private final Process process;
  private final BufferedReader answers;
  private final OutputStream questions;

  private ChildProcess(String name, Path log, Process process) {
    this.name = name;
    this.log = log;
    this.process = process;
    this.questions = process.getOutputStream();
    this.answers =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Starts a process on the class path of this one, as {@link #start}. */
  public static ChildProcess startHere(
      String name, Class<?> main, Path log, List<String> arguments) {
    return start(name, System.getProperty("java.class.path"), main, log, arguments);
  }

  /** Starts a process with a small heap. */
  public static ChildProcess start(
      String name, String classPath, Class<?> main, Path log, List<String> arguments) {
    return start(name, classPath, main, log, HEAP_MEGABYTES, arguments);
  }

  /**
   * Starts a process.
   *
   * @param main a class whose main method calls {@link ChildControl#start} first
   * @param log where its standard error goes; added to
   */
  public static ChildProcess start(
      String name,
      String classPath,
      Class<?> main,
      Path log,
      int heapMegabytes,
      List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xms" + heapMegabytes + "m");
    command.add("-Xmx" + heapMegabytes + "m");
    command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
    String options = System.getProperty(OPTIONS_PROPERTY, "");
    if (!options.isBlank()) {
      command.addAll(List.of(options.replace("{name}", name).split(" ")));
    }
    command.add("-cp");
    command.add(classPath);
    command.add(main.getName());
    command.addAll(arguments);
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start();
      return new ChildProcess(name, log, process);
    } catch (IOException e) {
      throw new ToolException("The process of %s can't be started: %s.".formatted(name, e), e);
    }
  }

  /** Returns what some processes use together. */
  public static Processes together(List<ChildProcess> processes) {
    return new Processes(
        () -> sum(processes, ChildControl.PROCESSOR),
        () -> sum(processes, ChildControl.COMPILER),
        List.of());
  }

  private static long sum(List<ChildProcess> processes, String question) {
    return processes.stream().mapToLong(each -> each.ask(question)).sum();
  }

  /** Returns the processor time that it has used. */
  public long processorNanos() {
    return ask(ChildControl.PROCESSOR);
  }

  /** Asks what its {@link ChildControl} can answer for a number. */
  public long ask(String question, long number) {
    return ask(question + " " + number);
  }

  /** Asks what its {@link ChildControl} can answer. */
  public synchronized long ask(String question) {
    try {
      questions.write((question + "\n").getBytes(StandardCharsets.UTF_8));
      questions.flush();
      String line;
      while ((line = answers.readLine()) != null) {
        if (line.startsWith(ChildControl.ANSWER)) { // else the JVM says something
          return Long.parseLong(line.substring(ChildControl.ANSWER.length()));
        }
      }
      throw new IOException("it has ended");
    } catch (IOException e) {
      throw new ToolException(
          "The process of %s does not answer: %s. Its last words: %s"
              .formatted(name, e.getMessage(), lastWords()),
          e);
    }
  }

  /** Returns an address of this machine with a port that nobody listens on. */
  public static InetSocketAddress freeAddress(String host) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(host, 0));
      return (InetSocketAddress) socket.getLocalSocketAddress();
    } catch (IOException e) {
      throw new ToolException("%s has no free port: %s.".formatted(host, e), e);
    }
  }

  /**
   * The jars or folders of this module and of those that it stands on, for a foreign class path.
   */
  public static String here() {
    return String.join(
        File.pathSeparator, placeOf(ChildProcess.class), placeOf(ToolException.class));
  }

  private static String placeOf(Class<?> type) {
    try {
      var source = type.getProtectionDomain().getCodeSource();
      return Path.of(source.getLocation().toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The end of its log. */
  public String lastWords() {
    try {
      List<String> lines = Files.readAllLines(log);
      return String.join(
          System.lineSeparator(), lines.subList(Math.max(0, lines.size() - 10), lines.size()));
    } catch (IOException e) {
      return "not known, since " + e;
    }
  }

  /** Whether it has not ended. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Ends it as kill -9 does, and waits until it is gone. */
  public void kill() {
    process.destroyForcibly();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        throw new ToolException("The process of %s can't be killed.".formatted(name));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** As kill -STOP does. */
  public void suspend() {
    signal("STOP");
  }

  /** As kill -CONT does. */
  public void resume() {
    signal("CONT");
  }

  private void signal(String signal) {
    try {
      int code =
          new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
      if (code != 0) {
        throw new ToolException("The process of %s got no %s.".formatted(name, signal));
      }
    } catch (IOException e) {
      throw new ToolException("There is no command kill: " + e + ".", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException("The measurement was interrupted.", e);
    }
  }

  @Override
  public void close() {
    kill();
  }
}
