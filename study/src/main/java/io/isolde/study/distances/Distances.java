// SPDX-License-Identifier: Apache-2.0
package io.isolde.study.distances;

import io.isolde.staleness.Delay;
import io.isolde.staleness.Place;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Delays between places, to emulate them. As text, a line each, {@code #} begins a comment:
 *
 * <pre>
 * rack:       0.2ms + exp 0.3ms    # from node to node of a rack
 * datacenter: 1ms + exp 2ms        # between racks of a datacenter
 * elsewhere:  40ms + exp 5ms       # between datacenters
 * eu us:      45ms + exp 4ms       # between these two, both ways
 * writes:     exp 5ms              # besides, for each write's request: slow disks, busy replicas
 * </pre>
 *
 * A delay is a sum of constants, {@code exp MEAN} and {@code uniform LOW HIGH}; the units are us,
 * ms and s. What is left out has no delay.
 */
public final class Distances {
  /** The system property of a node that names the file with the text. */
  public static final String FILE_PROPERTY = "isolde.study.distances";

  private static final String RACK = "rack";
  private static final String DATACENTER = "datacenter";
  private static final String ELSEWHERE = "elsewhere";
  private static final String WRITES = "writes";

  private final Map<String, Delay> delays = new LinkedHashMap<>();

  private Distances() {}

  /**
   * Reads the text.
   *
   * @throws IllegalArgumentException with a sentence that names the line that isn't understood
   */
  public static Distances parse(String text) {
    Distances distances = new Distances();
    text.lines()
        .map(line -> line.replaceAll("#.*", "").strip())
        .filter(line -> !line.isEmpty())
        .forEach(distances::add);
    return distances;
  }

  private void add(String line) {
    String[] parts = line.split(":", 2);
    if (parts.length != 2) {
      throw new IllegalArgumentException(
          "\"%s\" is not a line like \"rack: 0.2ms + exp 0.3ms\".".formatted(line));
    }
    String[] names = parts[0].strip().split("\\s+", -1);
    Delay delay = DelayText.parse(parts[1].strip());
    if (names.length == 2) {
      delays.put(pair(names[0], names[1]), delay);
      delays.put(pair(names[1], names[0]), delay);
      return;
    }
    switch (names[0]) {
      case RACK, DATACENTER, ELSEWHERE, WRITES -> delays.put(names[0], delay);
      default ->
          throw new IllegalArgumentException(
              "\"%s\" is neither rack, datacenter, elsewhere, writes nor two datacenters."
                  .formatted(parts[0].strip()));
    }
  }

  private static String pair(String from, String to) {
    return from + " " + to;
  }

  /** The delay of a message from a place to another. */
  public Delay between(Place from, Place to) {
    return switch (from.to(to)) {
      case SAME_RACK -> named(RACK);
      case SAME_DATACENTER -> named(DATACENTER);
      case ELSEWHERE ->
          delays.getOrDefault(pair(from.datacenter(), to.datacenter()), named(ELSEWHERE));
    };
  }

  /** What requests of writes take besides. */
  public Delay ofWrites() {
    return named(WRITES);
  }

  private Delay named(String name) {
    return delays.getOrDefault(name, Delay.NONE);
  }
}
