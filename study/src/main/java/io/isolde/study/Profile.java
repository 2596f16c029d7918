// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import io.isolde.staleness.Distances;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * How far apart the nodes of a local cluster are to be.
 *
 * @param distances as {@link Distances} reads them; empty for none
 * @param datacenters over which the nodes are spread, in turn
 * @param racks of each datacenter, likewise
 */
public record Profile(String name, String distances, int datacenters, int racks) {

  private static final Map<String, Profile> KNOWN = new LinkedHashMap<>();

  static {
    add(new Profile("none", "", 1, 1));
    add(new Profile("lan", "rack: 0.2ms + exp 0.3ms\n", 1, 1));
    add(new Profile("racks", "rack: 0.2ms + exp 0.3ms\ndatacenter: 1ms + exp 4ms\n", 1, 4));
    add(new Profile("disks", "rack: 0.5ms + exp 1ms\nwrites: exp 15ms\n", 1, 1));
    add(
        new Profile(
            "regions",
            "rack: 0.2ms + exp 0.3ms\ndatacenter: 0.5ms + exp 0.5ms\nelsewhere: 30ms + exp 10ms\n",
            3,
            1));
  }

  private static void add(Profile profile) {
    KNOWN.put(profile.name, profile);
  }

  /** The names of those that are built in. */
  public static String names() {
    return String.join(", ", KNOWN.keySet());
  }

  /**
   * One that is built in, or a file of distances; then for as many datacenters as it names.
   *
   * @throws StudyException if there is neither, or the file isn't understood
   */
  public static Profile of(String nameOrFile) {
    Profile known = KNOWN.get(nameOrFile);
    if (known != null) {
      return known;
    }
    try {
      String text = Files.readString(Path.of(nameOrFile));
      var unused = Distances.parse(text);
      boolean isSpread = text.lines().anyMatch(line -> line.strip().startsWith("elsewhere:"));
      return new Profile(nameOrFile, text, isSpread ? 3 : 1, isSpread ? 1 : 3);
    } catch (IOException e) {
      throw new StudyException(
          "\"%s\" is neither a profile (%s) nor a file that can be read."
              .formatted(nameOrFile, names()),
          e);
    } catch (IllegalArgumentException e) {
      throw new StudyException(nameOrFile + ": " + e.getMessage(), e);
    }
  }

  String datacenterOf(int node) {
    return "dc" + (1 + node % datacenters);
  }

  String rackOf(int node) {
    return "rack" + (1 + node / datacenters % racks);
  }

  /** Three replicas in all, as evenly over the datacenters as can be, for CREATE KEYSPACE. */
  String replication(int replicas) {
    Map<String, Integer> counts = new TreeMap<>();
    for (int i = 0; i < replicas; i++) {
      counts.merge(datacenterOf(i), 1, Integer::sum);
    }
    StringBuilder options = new StringBuilder("{'class': 'NetworkTopologyStrategy'");
    counts.forEach((name, count) -> options.append(", '%s': %d".formatted(name, count)));
    return options.append('}').toString();
  }
}
