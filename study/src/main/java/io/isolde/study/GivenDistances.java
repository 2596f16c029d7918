// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import io.isolde.study.distances.Distances;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which distances a text for {@link Distances} gives, and the places that they are between: a place
 * that no line is about would be no distance away, a line about no place would be without effect.
 *
 * @param keys what stands before the colons
 */
record GivenDistances(Set<String> keys) {
  static final String RACK = "rack";
  private static final String DATACENTER = "datacenter";
  private static final String ELSEWHERE = "elsewhere";

  /** The fewest datacenters with {@code elsewhere}: each of the three replicas in one. */
  private static final int ELSEWHERE_DATACENTERS = StudyOptions.REPLICAS;

  private static final int RACKS_OF_ONE_DATACENTER = 3;

  /** So few nodes are in each of several that with more racks no two would share one. */
  private static final int RACKS_OF_SEVERAL_DATACENTERS = 2;

  static GivenDistances of(String text) {
    return new GivenDistances(
        text.lines()
            .map(line -> line.replaceAll("#.*", "").split(":", 2)[0].strip())
            .filter(key -> !key.isEmpty())
            .map(key -> key.replaceAll("\\s+", " "))
            .collect(Collectors.toCollection(LinkedHashSet::new)));
  }

  boolean has(String key) {
    return keys.contains(key);
  }

  /**
   * Those that pairs name, and with {@code elsewhere} at least three; one if there is neither.
   *
   * @throws IllegalArgumentException with a sentence if two of them have no distance
   */
  List<String> datacenters() {
    Set<String> names = new LinkedHashSet<>();
    pairs().forEach(names::addAll);
    if (!has(ELSEWHERE)) {
      requireDistances(List.copyOf(names));
    }
    int fewest = has(ELSEWHERE) ? ELSEWHERE_DATACENTERS : 1;
    for (int i = 1; names.size() < fewest; i++) {
      names.add("dc" + i);
    }
    return List.copyOf(names);
  }

  private Collection<List<String>> pairs() {
    List<List<String>> pairs = new ArrayList<>();
    for (String key : keys) {
      List<String> names = List.of(key.split(" ", -1));
      if (names.size() == 2) {
        require(
            !names.get(0).equals(names.get(1)),
            "\"%s\" is one datacenter, not two: say \"datacenter:\".".formatted(key));
        pairs.add(names);
      }
    }
    return pairs;
  }

  private void requireDistances(List<String> names) {
    for (String one : names) {
      for (String other : names.subList(names.indexOf(one) + 1, names.size())) {
        require(
            has(one + " " + other) || has(other + " " + one),
            "How far are %s and %s from each other? Say \"%s %s:\", or \"elsewhere:\" for all."
                .formatted(one, other, one, other));
      }
    }
  }

  private static void require(boolean holds, String sentence) {
    if (!holds) {
      throw new IllegalArgumentException(sentence);
    }
  }

  /** Of each datacenter: several only if it is given how far they are from each other. */
  int racks() {
    if (!has(DATACENTER)) {
      return 1;
    }
    return datacenters().size() == 1 ? RACKS_OF_ONE_DATACENTER : RACKS_OF_SEVERAL_DATACENTERS;
  }
}
