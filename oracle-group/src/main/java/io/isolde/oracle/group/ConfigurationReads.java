// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.configuration.Configuration;
import io.isolde.oracle.configuration.ConfiguredGroup;
import io.isolde.oracle.configuration.ConfiguredNode;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Reads the configuration page by page: all of one version, or the changes since one. */
final class ConfigurationReads {
  /** A configuration that changes between its pages is read again; so often at most. */
  private static final int MAX_READS = 16;

  /** Before the second read, and as much longer before each further one. */
  private static final long PAUSE_MILLIS = 10;

  /** Asks whoever leads the oracle. */
  interface Ask {
    <T> CompletableFuture<T> ask(ConfigurationQuestion question, Function<ByteBuf, T> decode);
  }

  /** Pages of one version. */
  private static final class Read {
    private final int number;
    private final List<ConfiguredNode> nodes = new ArrayList<>();
    private final List<ConfiguredGroup> groups = new ArrayList<>();
    private long version = ConfigurationQuestion.NEWEST;

    private Read(int number) {
      this.number = number;
    }

    private int entries() {
      return nodes.size() + groups.size();
    }
  }

  private final Ask ask;

  ConfigurationReads(Ask ask) {
    this.ask = ask;
  }

  CompletableFuture<Configuration> all() {
    return next(new Read(1));
  }

  private CompletableFuture<Configuration> next(Read read) {
    return ask.ask(
            new ConfigurationQuestion(false, read.version, read.entries()),
            ConfigurationQuestion.ConfigurationPage::read)
        .thenCompose(page -> add(read, page));
  }

  private CompletableFuture<Configuration> add(
      Read read, ConfigurationQuestion.ConfigurationPage page) {
    boolean isFirst = read.version == ConfigurationQuestion.NEWEST;
    if (!isFirst && page.part().version() != read.version) {
      return read.number < MAX_READS
          ? afterAPause(read.number).thenCompose(rested -> next(new Read(read.number + 1)))
          : GroupFailure.future(
              Reason.OVERLOADED,
              "The configuration has changed during each of " + MAX_READS + " reads.");
    }
    read.version = page.part().version();
    read.nodes.addAll(page.part().nodes());
    read.groups.addAll(page.part().groups());
    return page.entries() == 0 || read.entries() >= page.size()
        ? CompletableFuture.completedFuture(
            new Configuration(read.version, read.nodes, read.groups))
        : next(read);
  }

  /** Changes come in crowds, as when a node fails that leads many groups. */
  private static CompletableFuture<Void> afterAPause(int reads) {
    return CompletableFuture.runAsync(
        () -> {}, CompletableFuture.delayedExecutor(reads * PAUSE_MILLIS, TimeUnit.MILLISECONDS));
  }

  CompletableFuture<ConfigurationChanges> changesAfter(long version) {
    return changes(ConfigurationQuestion.NEWEST, version).thenCompose(this::others);
  }

  private CompletableFuture<ConfigurationChanges> others(ConfigurationChanges first) {
    return first.isLast()
        ? CompletableFuture.completedFuture(first)
        : changes(first.version(), first.lastVersion())
            .thenCompose(next -> others(first.followedBy(next)));
  }

  private CompletableFuture<ConfigurationChanges> changes(long atLeast, long after) {
    return ask.ask(new ConfigurationQuestion(true, atLeast, after), ConfigurationChanges::read);
  }
}
