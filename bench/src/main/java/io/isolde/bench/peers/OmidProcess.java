// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.peers;

import io.isolde.bench.kit.Pause;
import io.isolde.bench.nodes.ChildProcess;
import io.isolde.bench.nodes.TemporaryFolder;
import io.isolde.cluster.ToolException;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The status oracle of Apache Omid, alone in a process. It persists nothing, neither commits nor
 * timestamps, and has no backup; it remembers as many rows as ours.
 */
public final class OmidProcess implements AutoCloseable {
  /** Names the folder with Omid's jars. */
  public static final String FOLDER_PROPERTY = "isolde.omid.dir";

  private static final int PATIENCE_SECONDS = 60;

  private static final String SETTINGS =
      """
      networkIfaceName: lo
      port: %d
      conflictMapSize: %d
      commitTableStoreModule: !!org.apache.omid.tso.InMemoryCommitTableStorageModule [ ]
      """;

  private static final String LOGGING =
      """
      log4j.rootLogger=WARN, A
      log4j.appender.A=org.apache.log4j.ConsoleAppender
      log4j.appender.A.target=System.err
      log4j.appender.A.layout=org.apache.log4j.PatternLayout
      log4j.appender.A.layout.ConversionPattern=%d %p %c %m%n
      """;

  private final TemporaryFolder folder = new TemporaryFolder("omid");
  private final InetSocketAddress address;
  private final ChildProcess process;

  /** The folder with Omid's jars, if there is one. */
  public static Optional<Path> jars() {
    return Jars.folder(FOLDER_PROPERTY);
  }

  /** Starts it and waits until it listens. */
  public OmidProcess(Path jars, int rows) {
    address = ChildProcess.freeAddress("127.0.0.1");
    write("omid-server-configuration.yml", SETTINGS.formatted(address.getPort(), rows));
    write("log4j.properties", LOGGING);
    String classPath =
        String.join(
            File.pathSeparator,
            folder.path().toString(),
            jars.resolve("*").toString(),
            ChildProcess.here());
    process =
        ChildProcess.start(
            "omid", classPath, OmidMain.class, folder.path().resolve("omid.log"), List.of());
    try {
      Pause.until("Omid listens", PATIENCE_SECONDS, this::isListening);
    } catch (ToolException e) {
      close();
      throw new ToolException(e.getMessage() + " Its last words: " + process.lastWords(), e);
    }
  }

  private void write(String file, String text) {
    try {
      Files.writeString(folder.path().resolve(file), text);
    } catch (IOException e) {
      throw new ToolException("Omid's settings can't be written: " + e + ".", e);
    }
  }

  private boolean isListening() {
    try (Socket socket = new Socket()) {
      socket.connect(address);
      return true;
    } catch (IOException notYet) {
      return false;
    }
  }

  /** Returns where it listens. */
  public InetSocketAddress address() {
    return address;
  }

  /** Returns its process. */
  public ChildProcess process() {
    return process;
  }

  @Override
  public void close() {
    process.close();
    folder.close();
  }
}
