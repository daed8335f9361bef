package magazine;

import com.google.common.base.Splitter;
import com.google.common.collect.HashMultimap;
import com.google.common.collect.Multimap;
import com.google.common.collect.Sets;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

public class RelatedArticles {
    private final Multimap<String, String> tags = HashMultimap.create();

    public void publish(String article, String list) {
        for (String tag : Splitter.on(',').trimResults().omitEmptyStrings().split(list)) {
            tags.put(article, tag);
        }
    }

    public List<String> of(String article, int common) {
        Set<String> own = Set.copyOf(tags.get(article));
        Set<String> found = new TreeSet<>();
        for (String other : tags.keySet()) {
            Set<String> shared = Sets.intersection(own, Set.copyOf(tags.get(other)));
            if (!other.equals(article) && shared.size() > common) {
                found.add(other);
            }
        }
        return List.copyOf(found);
    }
}
