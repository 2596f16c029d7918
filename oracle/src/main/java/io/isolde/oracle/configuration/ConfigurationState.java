// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * The configuration as a replica of the oracle has it. What reports change depends on nothing but
 * the log, so all replicas that have applied the same entries have the same.
 *
 * <p>Not thread-safe: the caller serialises.
 */
public final class ConfigurationState {
  /** Nodes that the ring may have; more are refused. */
  public static final int MAX_NODES = 2_048;

  /** Replica groups of all keyspaces; more are refused. */
  public static final int MAX_GROUPS = 32_768;

  /** Of all entries; what would need more is refused. */
  public static final long MAX_BYTES = 16 << 20;

  /** Entries that were removed, of which late reports are recognised. */
  static final int MAX_REMOVED = 1_024;

  /** Which of two reports of an entry is the newer one: nodes have no term. */
  private record Age(long term, long generation) {
    private boolean isAbove(Age other) {
      return term > other.term || (term == other.term && generation > other.generation);
    }
  }

  /** Entries that were removed, the longest ago first. */
  @SuppressWarnings("serial") // never serialised
  private static final class Removed extends LinkedHashMap<UUID, Age> {
    @Override
    protected boolean removeEldestEntry(Map.Entry<UUID, Age> eldest) {
      return size() > MAX_REMOVED;
    }
  }

  private final Entries entries = new Entries();
  private final ChangeHistory history = new ChangeHistory();

  /** Of exactly the entries. */
  private final TreeMap<UUID, Age> ages = new TreeMap<>();

  private final Removed removed = new Removed();

  /** Of what has changed since {@link #takeChangedIds}. */
  private final Set<Long> changedIds = new LinkedHashSet<>();

  private long version;

  /**
   * Applies a report.
   *
   * @param timeMicros of the log's entry
   * @param hasSession whether the coordinator of a node has an open session
   */
  public Effect apply(ConfigurationReport report, long timeMicros, Predicate<UUID> hasSession) {
    if (report instanceof ConfigurationReport.RegisterNode register) {
      return register(register, timeMicros, hasSession);
    }
    if (report instanceof ConfigurationReport.RegisterGroup register) {
      return register(register, timeMicros);
    }
    if (report instanceof ConfigurationReport.NewLeader newLeader) {
      return lead(newLeader, timeMicros);
    }
    if (report instanceof ConfigurationReport.DeregisterNode deregister) {
      ConfiguredNode node = entries.nodes.get(deregister.host());
      return node == null || node.version() > deregister.version()
          ? Effect.UNCHANGED
          : remove(deregister.host(), new Change.NodeRemoved(deregister.host()), timeMicros);
    }
    ConfigurationReport.DeregisterGroup deregister = (ConfigurationReport.DeregisterGroup) report;
    ConfiguredGroup group = entries.groups.get(deregister.group());
    return group == null || group.version() > deregister.version()
        ? Effect.UNCHANGED
        : remove(deregister.group(), new Change.GroupRemoved(deregister.group()), timeMicros);
  }

  private Effect register(
      ConfigurationReport.RegisterNode report, long timeMicros, Predicate<UUID> hasSession) {
    UUID host = report.node().host();
    Age age = new Age(0, report.generation());
    if (!isNews(host, age)) {
      return Effect.SUPERSEDED;
    }
    ConfiguredNode known = entries.nodes.get(host);
    if (known == null
        ? entries.nodes.size() >= MAX_NODES || !hasRoom(report.node().bytes())
        : !hasRoom(report.node().bytes() - known.info().bytes())) {
      return Effect.FULL;
    }
    ages.put(host, age);
    boolean isUp = hasSession.test(host);
    return known != null && known.info().equals(report.node()) && known.isUp() == isUp
        ? Effect.UNCHANGED
        : change(new Change.NodeRegistered(report.node(), isUp), timeMicros);
  }

  private Effect register(ConfigurationReport.RegisterGroup report, long timeMicros) {
    UUID id = report.group().id();
    Age age = new Age(report.term(), report.generation());
    if (!isNews(id, age)) {
      return Effect.SUPERSEDED;
    }
    ConfiguredGroup known = entries.groups.get(id);
    if (known == null
        ? entries.groups.size() >= MAX_GROUPS || !hasRoom(report.group().bytes())
        : !hasRoom(report.group().bytes() - known.info().bytes())) {
      return Effect.FULL;
    }
    ages.put(id, age);
    return known != null
            && known.info().equals(report.group())
            && known.leader().equals(report.leader())
            && known.term() == report.term()
        ? Effect.UNCHANGED
        : change(
            new Change.GroupRegistered(report.group(), report.leader(), report.term()), timeMicros);
  }

  private boolean isNews(UUID id, Age age) {
    Age known = newest(id);
    return known == null || age.isAbove(known);
  }

  private Age newest(UUID id) {
    return ages.containsKey(id) ? ages.get(id) : removed.get(id);
  }

  /** The generation of the newest report of an entry that is or was there; 0 if none is known. */
  public long generationOf(UUID id) {
    Age known = newest(id);
    return known == null ? 0 : Math.max(0, known.generation);
  }

  private boolean hasRoom(int moreBytes) {
    return moreBytes <= 0 || entries.bytes() + moreBytes <= MAX_BYTES;
  }

  private Effect lead(ConfigurationReport.NewLeader report, long timeMicros) {
    ConfiguredGroup known = entries.groups.get(report.group());
    if (known == null) {
      return Effect.NO_SUCH_GROUP;
    }
    if (report.term() <= known.term()) {
      return Effect.UNCHANGED;
    }
    // Generations are of one leader's clock: whatever this one registers in its term, counts.
    ages.put(report.group(), new Age(report.term(), Long.MIN_VALUE));
    return change(
        new Change.LeaderChanged(report.group(), report.leader(), report.term()), timeMicros);
  }

  private Effect remove(UUID id, Change change, long timeMicros) {
    removed.remove(id); // So that it is the newest again.
    removed.put(id, ages.remove(id));
    return change(change, timeMicros);
  }

  /** The session of a coordinator was opened, or has ended. */
  public void sessionChanged(UUID coordinator, boolean isOpen, long timeMicros) {
    ConfiguredNode node = entries.nodes.get(coordinator);
    if (node != null && node.isUp() != isOpen) {
      var unused = change(new Change.NodeLiveness(coordinator, isOpen), timeMicros);
    }
  }

  private Effect change(Change change, long timeMicros) {
    version++;
    VersionedChange versioned = new VersionedChange(version, timeMicros, change);
    changedIds.addAll(ConfigurationIds.of(change, entries));
    entries.apply(versioned);
    history.add(versioned);
    assert ages.size() == entries.nodes.size() + entries.groups.size();
    return Effect.CHANGED;
  }

  public long version() {
    return version;
  }

  /** What watchers watch, of all that has changed since this was called last. */
  public long[] takeChangedIds() {
    long[] ids = changedIds.stream().mapToLong(Long::longValue).toArray();
    changedIds.clear();
    return ids;
  }

  /** All of it. */
  public Configuration configuration() {
    return new Configuration(
        version, List.copyOf(entries.nodes.values()), List.copyOf(entries.groups.values()));
  }

  /** How many entries there are. */
  public int size() {
    return entries.nodes.size() + entries.groups.size();
  }

  /**
   * A part of it.
   *
   * @param from so many entries are passed over
   * @param maxBytes about as many as it has; the entry that reaches them is the last one
   */
  public Configuration page(int from, long maxBytes) {
    List<ConfiguredNode> nodes = new ArrayList<>();
    List<ConfiguredGroup> groups = new ArrayList<>();
    long bytes = 0;
    int passed = Math.max(0, from);
    for (Iterator<ConfiguredNode> all = after(entries.nodes, passed);
        all.hasNext() && bytes < maxBytes; ) {
      ConfiguredNode node = all.next();
      bytes += node.info().bytes();
      nodes.add(node);
    }
    int passedGroups = Math.max(0, passed - entries.nodes.size());
    for (Iterator<ConfiguredGroup> all = after(entries.groups, passedGroups);
        all.hasNext() && bytes < maxBytes; ) {
      ConfiguredGroup group = all.next();
      bytes += group.info().bytes();
      groups.add(group);
    }
    return new Configuration(version, nodes, groups);
  }

  private static <T> Iterator<T> after(SortedMap<UUID, T> entries, int passed) {
    return entries.values().stream().skip(passed).iterator();
  }

  /** As {@link ChangeHistory#after}. */
  public Optional<List<VersionedChange>> changesAfter(long after, long maxBytes) {
    return history.after(after, maxBytes);
  }

  /** The changes up to this version are forgotten. */
  public long forgottenUpTo() {
    return history.forgottenUpTo();
  }

  /** All of it, to be written down. */
  public Saved save() {
    List<Saved.Seen> seen = new ArrayList<>();
    ages.forEach((id, age) -> seen.add(new Saved.Seen(id, age.term, age.generation)));
    List<Saved.Seen> gone = new ArrayList<>();
    removed.forEach((id, age) -> gone.add(new Saved.Seen(id, age.term, age.generation)));
    return new Saved(configuration(), history.forgottenUpTo(), history.all(), seen, gone);
  }

  /** As it was saved. */
  public static ConfigurationState of(Saved saved) {
    ConfigurationState state = new ConfigurationState();
    state.version = saved.configuration().version();
    saved.configuration().nodes().forEach(state.entries::add);
    saved.configuration().groups().forEach(state.entries::add);
    state.history.restore(saved.forgottenUpTo(), saved.changes());
    saved
        .ages()
        .forEach(seen -> state.ages.put(seen.id(), new Age(seen.term(), seen.generation())));
    saved
        .removed()
        .forEach(seen -> state.removed.put(seen.id(), new Age(seen.term(), seen.generation())));
    return state;
  }

  /**
   * A copy at one moment.
   *
   * @param ages of the newest report of each entry
   * @param removed the same of entries that are gone, the longest ago first
   */
  public record Saved(
      Configuration configuration,
      long forgottenUpTo,
      List<VersionedChange> changes,
      List<Seen> ages,
      List<Seen> removed) {

    /** The newest report of an entry. */
    public record Seen(UUID id, long term, long generation) {}

    public Saved {
      changes = List.copyOf(changes);
      ages = List.copyOf(ages);
      removed = List.copyOf(removed);
    }
  }
}
