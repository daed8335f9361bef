//! Scenes: the statements that were noted while something outside ran one method of the driver, such as a
//! test. When the script grows too long, the oldest scenes that passed are forgotten as a whole: a test that
//! passed seldom matters to another. Statements of class initialisers stay, those on objects that tests share, and short
//! scenes.

use std::ops::Range;

/// Steps of a scene that are few enough to stay: they may have set something up.
const FEW: usize = 256;

/// The scenes of a script.
#[derive(Default)]
pub(super) struct Scenes {
    /// How many go on now, in all threads.
    open: usize,
    /// Those that ended well, by their steps, the oldest first.
    over: Vec<Range<usize>>,
    /// Steps that stay: of class initialisers.
    lasting: Vec<Range<usize>>,
}

impl Scenes {
    /// Whether nobody is in the middle of one, so that steps may be numbered anew.
    pub(super) fn is_quiet(&self) -> bool {
        self.open == 0
    }

    pub(super) fn begin(&mut self) {
        self.open += 1;
    }

    /// A scene ended; its steps, if it can be forgotten.
    pub(super) fn end(&mut self, over: Option<Range<usize>>) {
        self.open = self.open.saturating_sub(1);
        self.over.extend(over.filter(|steps| steps.len() > FEW));
    }

    pub(super) fn last(&mut self, steps: Range<usize>) {
        if !steps.is_empty() {
            self.lasting.push(steps);
        }
    }

    /// Whether a step is one of a class initialiser.
    pub(super) fn initialises(&self, step: usize) -> bool {
        self.lasting.iter().any(|of| of.contains(&step))
    }

    /// Which steps to keep so that no more than `most` are left of those so far, as far as that can be. The
    /// oldest scenes go first, but for the steps that `stays` tells. What is kept has new numbers then.
    pub(super) fn forget(
        &mut self,
        steps: usize,
        most: usize,
        stays: &dyn Fn(usize) -> bool,
    ) -> Vec<bool> {
        let mut kept = vec![true; steps];
        let mut left = steps;
        let lasts = |step: usize| self.initialises(step) || stays(step);
        let mut forgotten = 0;
        for scene in &self.over {
            if left <= most {
                break;
            }
            forgotten += 1;
            for step in scene.clone().filter(|step| !lasts(*step)) {
                if let Some(kept) = kept.get_mut(step)
                    && std::mem::replace(kept, false)
                {
                    left -= 1;
                }
            }
        }
        self.over.drain(..forgotten);
        let mut places = Vec::with_capacity(steps + 1);
        let mut place = 0;
        for kept in &kept {
            places.push(place);
            place += usize::from(*kept);
        }
        places.push(place);
        let place = |step: usize| places.get(step).copied().unwrap_or(place);
        for range in self.over.iter_mut().chain(&mut self.lasting) {
            *range = place(range.start)..place(range.end);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps that are left of scenes with so many steps each.
    fn left(scenes: &mut Scenes, steps: usize, most: usize) -> Vec<usize> {
        let kept = scenes.forget(steps, most, &|_| false);
        (0..steps).filter(|step| kept[*step]).collect()
    }

    fn scenes(of: &[Range<usize>]) -> Scenes {
        let mut scenes = Scenes::default();
        for scene in of {
            scenes.begin();
            scenes.end(Some(scene.clone()));
        }
        scenes
    }

    #[test]
    fn the_oldest_scenes_go_until_few_enough_steps_are_left() {
        let mut scenes = scenes(&[10..1010, 1010..2010, 2010..3010]);
        let left = left(&mut scenes, 3020, 1500);
        let expected: Vec<usize> = (0..10).chain(2010..3020).collect();
        assert_eq!(left, expected);
        assert_eq!(scenes.over.as_slice(), std::slice::from_ref(&(10..1010)));
    }

    #[test]
    fn short_scenes_and_initialisers_stay() {
        let mut scenes = scenes(&[0..100, 100..1100]);
        scenes.last(500..510);
        let left = left(&mut scenes, 1100, 0);
        let expected: Vec<usize> = (0..100).chain(500..510).collect();
        assert_eq!(left, expected);
        assert_eq!(scenes.lasting.as_slice(), std::slice::from_ref(&(100..110)));
    }

    #[test]
    fn a_scene_that_goes_on_is_not_quiet() {
        let mut scenes = Scenes::default();
        scenes.begin();
        assert!(!scenes.is_quiet());
        scenes.end(None);
        assert!(scenes.is_quiet());
    }
}
