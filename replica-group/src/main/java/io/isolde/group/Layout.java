// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Which replica group has which token ranges of a ring. Made once, when a keyspace is created, from
 * the ring as it is then; it stays as it is when the ring changes, until replicas are moved.
 *
 * @param groups by their number
 * @param ranges sorted by their ends; each begins where the one before ends, and the first also has
 *     what comes after the last
 */
public record Layout(List<Group> groups, List<Range> ranges) {
  private static final int MAX_SPLITS = 64;

  /**
   * A node that can be a member.
   *
   * @param id never used for another node, and never again for this one after it has lost its data
   * @param address as the cluster knows it
   */
  public record Member(String id, String address) {
    private static Member parse(String text) {
      int at = text.indexOf('@');
      return new Member(text.substring(0, at), text.substring(at + 1));
    }

    @Override
    public String toString() {
      return id + "@" + address;
    }
  }

  /** A node's place in the ring. */
  public record Place(long token, Member member) {}

  /**
   * A group.
   *
   * @param members in the order of the ring from the end of its first range on
   */
  public record Group(int number, List<Member> members) {
    /** Whether a node belongs to it. */
    public boolean hasMember(String id) {
      return members.stream().anyMatch(member -> member.id().equals(id));
    }
  }

  /** Up to and with a token, and from the end of the range before. */
  public record Range(long end, int group) {}

  /**
   * A range with both of its ends: above start, up to and with end; around the ring if not less.
   */
  public record Span(long start, long end) {}

  /** Checks that every token has exactly one group. */
  public Layout {
    groups = List.copyOf(groups);
    ranges = List.copyOf(ranges);
    if (ranges.isEmpty()) {
      throw new IllegalArgumentException("A layout has at least one range.");
    }
    for (int i = 0; i < groups.size(); i++) {
      if (groups.get(i).number() != i) {
        throw new IllegalArgumentException("Groups are numbered in their order.");
      }
    }
    for (int i = 0; i < ranges.size(); i++) {
      if (ranges.get(i).group() >= groups.size()
          || (i > 0 && ranges.get(i - 1).end() >= ranges.get(i).end())) {
        throw new IllegalArgumentException("Ranges are sorted and belong to groups.");
      }
    }
  }

  /**
   * Puts ranges with the same replicas into the same group.
   *
   * @param ring the places of all nodes of the placement
   * @param placement which nodes after the end of a range have its replicas
   * @param splits into how many groups ranges with the same replicas are dealt, if there are so
   *     many: more groups share the work of leading
   */
  public static Layout of(List<Place> ring, Placement placement, int splits) {
    List<Place> places = new ArrayList<>(ring);
    places.sort(Comparator.comparingLong(Place::token));
    if (splits < 1 || splits > MAX_SPLITS) {
      throw new IllegalArgumentException("It can be split by 1 to " + MAX_SPLITS + ".");
    }
    Map<String, Group> groups = new LinkedHashMap<>();
    Map<String, Integer> dealt = new LinkedHashMap<>();
    List<Range> ranges = new ArrayList<>();
    for (int i = 0; i < places.size(); i++) {
      List<Member> members = placement.replicas(places, i);
      String set = String.valueOf(new TreeSet<>(members.stream().map(Member::toString).toList()));
      int split = dealt.merge(set, 1, Integer::sum) % splits;
      Group group = groups.computeIfAbsent(split + set, key -> new Group(groups.size(), members));
      int last = ranges.size() - 1;
      if (last >= 0 && ranges.get(last).group() == group.number()) {
        ranges.remove(last);
      }
      ranges.add(new Range(places.get(i).token(), group.number()));
    }
    return new Layout(List.copyOf(groups.values()), ranges);
  }

  /**
   * The same ranges, with another member of a group in the place of one; it takes its turn, too.
   */
  public Layout withReplaced(int group, Member old, Member next) {
    List<Member> members = new ArrayList<>(groups.get(group).members());
    members.replaceAll(member -> member.id().equals(old.id()) ? next : member);
    return withMembers(group, List.copyOf(members));
  }

  /** The same ranges, with one more member of a group; its turn comes last. */
  public Layout withAdded(int group, Member next) {
    return withMembers(
        group, Stream.concat(groups.get(group).members().stream(), Stream.of(next)).toList());
  }

  /** The same ranges, without a member of a group. */
  public Layout withRemoved(int group, Member old) {
    return withMembers(
        group,
        groups.get(group).members().stream()
            .filter(member -> !member.id().equals(old.id()))
            .toList());
  }

  private Layout withMembers(int group, List<Member> members) {
    List<Group> changed = new ArrayList<>(groups);
    changed.set(group, new Group(group, members));
    return new Layout(changed, ranges);
  }

  /** The group of a token. */
  public Group groupOf(long token) {
    return groups.get(ranges.get(indexOf(token)).group());
  }

  private int indexOf(long token) {
    int at =
        Collections.binarySearch(ranges, new Range(token, 0), Comparator.comparingLong(Range::end));
    int index = at >= 0 ? at : -at - 1;
    return index == ranges.size() ? 0 : index;
  }

  /** All ranges in the order of the ring, beginning with the one of the smallest tokens. */
  public List<Span> spans() {
    List<Span> spans = new ArrayList<>(ranges.size());
    for (int i = 0; i < ranges.size(); i++) {
      spans.add(span(i));
    }
    return spans;
  }

  private Span span(int index) {
    return new Span(
        ranges.get((index + ranges.size() - 1) % ranges.size()).end(), ranges.get(index).end());
  }

  /** The range that a token is in. */
  public Span spanOf(long token) {
    return span(indexOf(token));
  }

  /** The ranges of a group. */
  public List<Span> spansOf(Group group) {
    List<Span> spans = new ArrayList<>();
    for (int i = 0; i < ranges.size(); i++) {
      if (ranges.get(i).group() == group.number()) {
        spans.add(span(i));
      }
    }
    return spans;
  }

  /** As one line of text, which {@link #parse} understands. */
  @Override
  public String toString() {
    List<String> members = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    for (Group group : groups) {
      text.append(group.number() == 0 ? ";" : ",");
      for (int i = 0; i < group.members().size(); i++) {
        String member = group.members().get(i).toString();
        if (!members.contains(member)) {
          members.add(member);
        }
        text.append(i == 0 ? "" : " ").append(members.indexOf(member));
      }
    }
    for (int i = 0; i < ranges.size(); i++) {
      text.append(i == 0 ? ";" : ",").append(ranges.get(i).end());
      text.append('/').append(ranges.get(i).group());
    }
    return String.join(" ", members) + text;
  }

  /**
   * Reads what {@link #toString} has written.
   *
   * @throws IllegalArgumentException if it is something else
   */
  public static Layout parse(String text) {
    try {
      String[] parts = text.split(";", -1);
      String[] members = parts[0].split(" ", -1);
      List<Group> groups = new ArrayList<>();
      for (String group : parts[1].split(",", -1)) {
        List<Member> ofGroup = new ArrayList<>();
        for (String number : group.split(" ", -1)) {
          ofGroup.add(Member.parse(members[Integer.parseInt(number)]));
        }
        groups.add(new Group(groups.size(), List.copyOf(ofGroup)));
      }
      List<Range> ranges = new ArrayList<>();
      for (String range : parts[2].split(",", -1)) {
        int slash = range.indexOf('/');
        ranges.add(
            new Range(
                Long.parseLong(range.substring(0, slash)),
                Integer.parseInt(range.substring(slash + 1))));
      }
      return new Layout(groups, ranges);
    } catch (IndexOutOfBoundsException | NumberFormatException e) {
      throw new IllegalArgumentException("This is no layout: " + text, e);
    }
  }
}
