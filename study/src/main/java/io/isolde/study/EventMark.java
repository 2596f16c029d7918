// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.geom.AffineTransform;
import java.awt.geom.Line2D;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.internal.chartpart.Annotation;

/**
 * A vertical line where something was done, with the words for it along the line: to the right of
 * the beginning, to the left of the end, which may have the next beginning right behind it.
 */
final class EventMark extends Annotation {
  private static final Font FONT = new Font(Font.SANS_SERIF, Font.PLAIN, 10);
  private static final BasicStroke THIN = new BasicStroke(0.6f);
  private static final Color BEHIND_WORDS = new Color(255, 255, 255, 200);
  private static final int GAP_PIXELS = 3;

  /** Words of this size have room; the whole of an error is in the report's table. */
  private static final int MAX_LETTERS = 44;

  /** An end this soon after its beginning, as a share of the time, would cover it. */
  private static final double SAME_MOMENT = 0.06;

  private final double atSeconds;
  private final String words;
  private final boolean isEnd;

  private EventMark(Churn.Event event, boolean isEnd) {
    super(false);
    this.atSeconds = event.atSeconds();
    this.words =
        event.what().length() <= MAX_LETTERS
            ? event.what()
            : event.what().substring(0, MAX_LETTERS) + "…";
    this.isEnd = isEnd;
  }

  /** One for each event that can be told apart from the one before, over so many seconds. */
  static List<EventMark> of(List<Churn.Event> events, int seconds) {
    Map<String, Double> begun = new HashMap<>();
    List<EventMark> marks = new ArrayList<>();
    for (Churn.Event event : events) {
      Double beginning = begun.get(event.what().split(": ", 2)[0]);
      begun.putIfAbsent(event.what(), event.atSeconds());
      if (beginning == null || event.atSeconds() - beginning > SAME_MOMENT * seconds) {
        marks.add(new EventMark(event, beginning != null));
      }
    }
    return marks;
  }

  String words() {
    return words;
  }

  @Override
  public void paint(Graphics2D picture) {
    int x = getXAxisScreenValue(atSeconds);
    int top = Math.min(getYAxisScreenValueForMax(), getYAxisScreenValueForMin());
    int bottom = Math.max(getYAxisScreenValueForMax(), getYAxisScreenValueForMin());
    picture.setColor(Color.GRAY);
    picture.setStroke(THIN);
    picture.draw(new Line2D.Double(x, top, x, bottom));
    picture.setFont(FONT);
    int length = picture.getFontMetrics().stringWidth(words);
    int height = picture.getFontMetrics().getAscent();
    int left = isEnd ? x - GAP_PIXELS - height : x + GAP_PIXELS;
    AffineTransform upright = picture.getTransform();
    // From below to the top of the plot.
    picture.translate(left + height, top + GAP_PIXELS + length);
    picture.rotate(-Math.PI / 2);
    picture.setColor(BEHIND_WORDS);
    picture.fillRect(0, -height, length, height);
    picture.setColor(Color.DARK_GRAY);
    picture.drawString(words, 0, -1);
    picture.setTransform(upright);
  }
}
