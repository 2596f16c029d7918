// SPDX-License-Identifier: Apache-2.0
package io.isolde.configuration;

import io.isolde.config.NodeClock;
import io.isolde.oracle.configuration.Configuration;
import io.isolde.oracle.configuration.ConfigurationReport;
import io.isolde.oracle.configuration.Effect;
import io.isolde.oracle.configuration.NodeInfo;
import io.isolde.oracle.group.ConfigurationChanges;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.peers.Ring;
import io.isolde.raft.transport.LogLimit;
import io.isolde.replicated.OracleHost;
import io.isolde.replication.LedGroups;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the configuration true as far as this node is responsible: reports itself when it starts,
 * and a group when it begins to lead it. The first living node also reports what is gone.
 *
 * <p>One thread looks at this node's own state, which costs nothing. It asks the oracle only when
 * that has changed, and once a minute, for what was changed since: a report that got lost is found
 * so. Nothing waits for it.
 */
public final class ConfigurationReporter implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(ConfigurationReporter.class);
  private static final long LOOK_MILLIS = 200;
  private static final long COMPARE_MILLIS = 60_000;

  /** Schemas and rings spread; what is gone is looked for again after this. */
  private static final long LOOK_AGAIN_MILLIS = 5_000;

  private static final long MIN_BACK_OFF_MILLIS = 500;
  private static final long MAX_BACK_OFF_MILLIS = 30_000;

  /** Reports that are under way at once; the others wait for the next look. */
  private static final int MAX_REPORTS = 256;

  private final OracleHost oracle;
  private final LedGroups groups;
  private final LogLimit logLimit = new LogLimit();
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread made = new Thread(task, "isolde-configuration");
            made.setDaemon(true);
            return made;
          });

  // All below belongs to the thread.

  /** As it was read last. */
  private Configuration known = Configuration.EMPTY;

  /** All that is below was compared with it. */
  private NodeInfo self;

  private Map<UUID, Long> terms = Map.of();
  private Set<UUID> knownGroups = Set.of();
  private long ringVersion;

  private boolean hasRegistered;
  private Set<UUID> missing = Set.of();
  private long generation;
  private long dueNanos = System.nanoTime();
  private long backOffMillis;

  public ConfigurationReporter(OracleHost oracle, LedGroups groups) {
    this.oracle = oracle;
    this.groups = groups;
  }

  public void start() {
    var unused = thread.scheduleWithFixedDelay(this::look, 0, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    try {
      boolean isDue = System.nanoTime() - dueNanos >= 0;
      if (ThisNode.isInRing() && (isDue || (backOffMillis == 0 && hasChanged()))) {
        long nextMillis = report();
        backOffMillis = 0;
        dueNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(nextMillis);
      }
    } catch (ExecutionException | RuntimeException e) {
      known = Configuration.EMPTY; // It may be of an oracle that was lost; it is read anew.
      backOffMillis =
          Math.min(Math.max(2 * backOffMillis, MIN_BACK_OFF_MILLIS), MAX_BACK_OFF_MILLIS);
      dueNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(backOffMillis);
      if (logLimit.allows("failed")) {
        logger.info(
            "The configuration of the cluster does not have this node's news yet; tried again", e);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean hasChanged() {
    return ringVersion != Ring.version()
        || !terms.equals(groups.terms())
        || !knownGroups.equals(groups.known())
        || !ThisNode.info().equals(self);
  }

  /** Returns after what time the next comparison is due. */
  private long report() throws ExecutionException, InterruptedException {
    long ringNow = Ring.version();
    NodeInfo selfNow = ThisNode.info();
    Map<UUID, Long> termsNow = groups.terms();
    Set<UUID> groupsNow = groups.known();
    read();
    Differences differences = new Differences(known);
    List<ConfigurationReport> reports = new ArrayList<>();
    if (hasRegistered) {
      differences.ofNode(selfNow, this::nextGeneration).ifPresent(reports::add);
    } else {
      // Also if all is known: it fences reports of an earlier process that come late.
      reports.add(new ConfigurationReport.RegisterNode(selfNow, nextGeneration()));
    }
    reports.addAll(
        differences.ofGroups(selfNow.host(), termsNow, groups::info, this::nextGeneration));
    boolean isMissing = Ring.isFirstLiving() && addGone(differences, selfNow, groupsNow, reports);
    boolean isAll = reports.size() <= MAX_REPORTS;
    boolean isToRegister = send(isAll ? reports : reports.subList(0, MAX_REPORTS));
    hasRegistered = true;
    self = selfNow;
    terms = termsNow;
    knownGroups = groupsNow;
    ringVersion = ringNow;
    if (!isAll) {
      return 0;
    }
    return isMissing || isToRegister ? LOOK_AGAIN_MILLIS : COMPARE_MILLIS;
  }

  /** Reports what was missing at two looks; returns whether something was missing at this one. */
  private boolean addGone(
      Differences differences,
      NodeInfo selfNow,
      Set<UUID> groupsNow,
      List<ConfigurationReport> reports) {
    Set<UUID> missingNow =
        differences.missing(host -> Ring.isMember(host) || host.equals(selfNow.host()), groupsNow);
    Set<UUID> gone = new HashSet<>(missingNow);
    gone.retainAll(missing);
    missing = missingNow;
    reports.addAll(differences.ofGone(gone));
    return !missingNow.isEmpty();
  }

  private void read() throws ExecutionException, InterruptedException {
    if (known.version() > 0) {
      ConfigurationChanges changes = oracle.client().configurationChanges(known.version()).get();
      if (changes.isWhole() && changes.version() >= known.version()) {
        known = known.with(changes.changes());
        return;
      }
    }
    known = oracle.client().configuration().get();
  }

  /**
   * All at once, so that they share entries of the log.
   *
   * @return whether a group was deregistered meanwhile, though this node leads it
   */
  private boolean send(List<ConfigurationReport> reports)
      throws ExecutionException, InterruptedException {
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (ConfigurationReport report : reports) {
      answers.add(oracle.client().execute(new Command.Configure(report)));
    }
    boolean isToRegister = false;
    for (CompletableFuture<Answer> answer : answers) {
      if (answer.get() instanceof Answer.Configured configured) {
        isToRegister |= configured.effect() == Effect.NO_SUCH_GROUP;
        if (configured.effect() == Effect.FULL && logLimit.allows("full")) {
          logger.error(
              "The configuration of the cluster has no room for what this node reports. Drop"
                  + " strong keyspaces that are not needed, or make them with fewer groups.");
        }
      }
    }
    return isToRegister;
  }

  /** Above that of every report before, also of processes before, as far as clocks are right. */
  private long nextGeneration() {
    generation = Math.max(generation + 1, NodeClock.nowMillis());
    return generation;
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
