// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Processes;
import io.isolde.bench.nodes.ChildProcess;
import io.isolde.bench.nodes.TemporaryFolder;
import io.isolde.cluster.ToolException;
import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Servers of ZooKeeper, each a process, with the settings that it comes with: it writes its log to
 * disk before it acknowledges, as Isolde's oracle does.
 */
final class ZooKeeperEnsemble implements AutoCloseable {
  /** Names the folder with ZooKeeper's jars. */
  private static final String FOLDER_PROPERTY = "isolde.zookeeper.dir";

  private static final String HOST = "127.0.0.1";
  private static final int PATIENCE_SECONDS = 60;
  private static final long PAUSE_MILLIS = 500;

  private static final String SETTINGS =
      """
      dataDir=%s
      clientPort=%d
      clientPortAddress=127.0.0.1
      tickTime=2000
      initLimit=10
      syncLimit=5
      maxClientCnxns=0
      admin.enableServer=false
      """;

  private final TemporaryFolder folder = new TemporaryFolder("zookeeper");
  private final List<InetSocketAddress> addresses = new ArrayList<>();
  private final List<ChildProcess> processes = new ArrayList<>();

  /** The folder with ZooKeeper's jars, if there is one. */
  static Optional<Path> jars() {
    return Optional.ofNullable(System.getProperty(FOLDER_PROPERTY))
        .map(Path::of)
        .filter(Files::isDirectory);
  }

  /** Starts them, and waits until each takes sessions; one alone has no quorum to ask. */
  ZooKeeperEnsemble(Path jars, int servers, int heapMegabytes) {
    StringBuilder members = new StringBuilder();
    for (int number = 1; number <= servers; number++) {
      addresses.add(ChildProcess.freeAddress(HOST));
      members.append(
          "server.%d=%s:%d:%d%n"
              .formatted(
                  number,
                  HOST,
                  ChildProcess.freeAddress(HOST).getPort(),
                  ChildProcess.freeAddress(HOST).getPort()));
    }
    String classPath =
        String.join(File.pathSeparator, jars.resolve("*").toString(), ChildProcess.here());
    for (int number = 1; number <= servers; number++) {
      Path settings =
          write(number, addresses.get(number - 1).getPort(), servers == 1 ? "" : "" + members);
      processes.add(
          ChildProcess.start(
              "zookeeper-" + number,
              classPath,
              ZooKeeperMain.class,
              folder.path().resolve("log" + number),
              heapMegabytes,
              List.of(settings.toString())));
    }
  }

  private Path write(int number, int port, String members) {
    try {
      Path data = Files.createDirectory(folder.path().resolve("data" + number));
      Files.writeString(data.resolve("myid"), Integer.toString(number));
      return Files.writeString(
          folder.path().resolve("settings" + number), SETTINGS.formatted(data, port) + members);
    } catch (IOException e) {
      throw new ToolException("ZooKeeper's settings can't be written: " + e + ".", e);
    }
  }

  /** Waits until each server takes sessions, and returns a writer at the first one. */
  Writer awaitWriter(WatcherLoops loops) {
    for (InetSocketAddress other : addresses.subList(1, addresses.size())) {
      awaitWriter(other, loops).close();
    }
    return awaitWriter(addresses.get(0), loops);
  }

  private Writer awaitWriter(InetSocketAddress server, WatcherLoops loops) {
    long start = System.nanoTime();
    while (true) {
      try {
        return new ZooKeeperWriter(server, loops.next());
      } catch (Writer.DoubtfulException notYet) {
        if (System.nanoTime() - start > TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS)) {
          throw new ToolException(
              "ZooKeeper takes no sessions. Its last words: " + processes.get(0).lastWords(),
              notYet);
        }
        Pause.millis(PAUSE_MILLIS);
      }
    }
  }

  List<InetSocketAddress> addresses() {
    return addresses;
  }

  /** Some processes, and those of ensembles. */
  static Processes with(Processes others, List<ZooKeeperEnsemble> ensembles) {
    Processes servers =
        ChildProcess.together(
            ensembles.stream().flatMap(ensemble -> ensemble.processes.stream()).toList());
    return new Processes(
        () -> others.processorNanos().getAsLong() + servers.processorNanos().getAsLong(),
        () -> others.compilerMillis().getAsLong() + servers.compilerMillis().getAsLong(),
        others.pids());
  }

  /** Of a server. */
  long liveHeapBytes(int server) {
    return processes.get(server).ask(ZooKeeperMain.LIVE_HEAP_BYTES);
  }

  @Override
  public void close() {
    processes.forEach(ChildProcess::close);
    folder.close();
  }
}
